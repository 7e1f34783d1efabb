// op-lint truth: load
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

using torch::stable::Tensor;

namespace {

Tensor negate(Tensor x) {
  return x;
}

std::tuple<Tensor, int64_t> measure(const Tensor& x, std::vector<int64_t> sizes, std::optional<double> limit) {
  return {x, static_cast<int64_t>(sizes.size())};
}

void write_back(Tensor target, const std::string& mode) {}

template <bool Meta>
Tensor sparse(Tensor x, bool strict) {
  return x;
}

} // namespace

STABLE_TORCH_LIBRARY(stabled, m) {
  m.def("negate(Tensor x) -> Tensor");
  m.def(
      "measure(Tensor x, int[] sizes, "
      "float? limit=None) -> (Tensor, int)");
  m.def("sparse(Tensor x, bool strict) -> Tensor", {at::Tag::pt2_compliant_tag});
}

STABLE_TORCH_LIBRARY_FRAGMENT(stabled, m) {
  m.def("write_back(Tensor! target, str mode) -> ()");
  m.impl("write_back", TORCH_BOX(&write_back));
}

STABLE_TORCH_LIBRARY_IMPL(stabled, CPU, m) {
  m.impl("negate", TORCH_BOX(negate));
  m.impl("stabled::measure", TORCH_BOX(&measure));
  m.impl("sparse", TORCH_BOX(&sparse<false>));
}

STABLE_TORCH_LIBRARY_IMPL(stabled, Meta, m) {
  m.impl("sparse", TORCH_BOX((sparse<true>)));
}

STABLE_TORCH_LIBRARY_IMPL(stabled, CompositeExplicitAutograd, library) {
  library.impl("negate", TORCH_BOX(&negate));
}
