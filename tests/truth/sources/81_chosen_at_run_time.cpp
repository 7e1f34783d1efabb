// op-lint truth: load unresolved
#include <torch/library.h>
#include <torch/types.h>

#include <cstdlib>
#include <string>

at::Tensor id(const at::Tensor& x) {
  return x;
}

static const bool kChoice = std::getenv("OP_LINT_TRUTH_CHOICE") != nullptr;

TORCH_LIBRARY(chosen, m) {
  m.def(kChoice ? "first(Tensor x) -> Tensor" : "second(Tensor x) -> Tensor");
  m.def((std::string("built") + "(Tensor x) -> Tensor").c_str());
  m.def("plain(Tensor x) -> Tensor");
  m.impl("plain", kChoice ? torch::kCPU : torch::kCUDA, &id);
}
