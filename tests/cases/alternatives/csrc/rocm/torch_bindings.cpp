#include <torch/library.h>

at::Tensor scale_hip(const at::Tensor& x);

TORCH_LIBRARY(demo_ops, m) {
  m.def("scale(Tensor x) -> Tensor");
  m.impl("scale", torch::kCUDA, &scale_hip);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}
