// op-lint truth: load
#include <torch/library.h>

at::Tensor sine(const at::Tensor& x) {
  return x.sin();
}

TORCH_LIBRARY(analysis, m) {
  m.def(torch::schema("pure(Tensor x) -> Tensor", c10::AliasAnalysisKind::PURE_FUNCTION));
  m.def(torch::schema("careful(Tensor x) -> Tensor", c10::AliasAnalysisKind::CONSERVATIVE), &sine);
  m.def(torch::schema("plain(Tensor x) -> Tensor"), &sine);
  m.def(
      torch::schema(
          "long_one(Tensor x, "
          "int n) -> Tensor",
          at::AliasAnalysisKind::FROM_SCHEMA));
  m.def("inferred", &sine);
}

TORCH_LIBRARY_IMPL(analysis, CPU, m) {
  m.impl("pure", &sine);
}
