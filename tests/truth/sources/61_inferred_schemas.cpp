// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

#include <tuple>

static at::Tensor unary(const at::Tensor& x) {
  return x;
}

std::tuple<at::Tensor, double> mixed(at::Tensor x, int64_t n, double f, bool b, std::string s) {
  return {x, f};
}

void in_place(at::Tensor x, std::optional<int64_t> n) {}

TORCH_LIBRARY(inferred, m) {
  m.def("unary", &unary);
  m.def("mixed", mixed);
  m.def("inferred::in_place", TORCH_FN(in_place));
  m.def("lambda.overload", [](const at::Tensor& x, at::TensorList xs, at::IntArrayRef sizes) { return x; });
  m.def(TORCH_SELECTIVE_SCHEMA("inferred::version"), []() -> int64_t { return 1; });
}
