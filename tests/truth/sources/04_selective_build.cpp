// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

namespace graph {

at::Tensor degree(const at::Tensor& edges, int64_t nodes) {
  return edges.sum() + nodes;
}

std::tuple<at::Tensor, at::Tensor> neighbours(const at::Tensor& edges, at::Tensor& scratch) {
  return std::make_tuple(edges, scratch.clone());
}

TORCH_LIBRARY_FRAGMENT(graph, m) {
  m.def(TORCH_SELECTIVE_SCHEMA("graph::degree(Tensor edges, int nodes) -> Tensor"));
  m.def(TORCH_SELECTIVE_SCHEMA(
      "graph::neighbours(Tensor edges, Tensor(a!) scratch) -> "
      "(Tensor, Tensor)"));
  m.def(TORCH_SELECTIVE_SCHEMA("graph::hops(Tensor edges) -> int"), [](const at::Tensor& edges) -> int64_t {
    return edges.numel();
  });
}

TORCH_LIBRARY_IMPL(graph, CPU, m) {
  m.impl(TORCH_SELECTIVE_NAME("graph::degree"), TORCH_FN(degree));
  m.impl(TORCH_SELECTIVE_NAME("graph::neighbours"), TORCH_FN(graph::neighbours));
}

TORCH_LIBRARY_IMPL(graph, CUDA, m) {
  m.impl(TORCH_SELECTIVE_NAME("graph::degree"), TORCH_FN(::graph::degree));
}

} // namespace graph
