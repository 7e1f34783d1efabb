#include <torch/library.h>

at::Tensor scale_cuda(const at::Tensor& x);
at::Tensor scale_rocm(const at::Tensor& x);
at::Tensor shift(const at::Tensor& x);

TORCH_LIBRARY(demo_ops, m) {
  m.def("scale(Tensor x) -> Tensor");
#ifdef USE_ROCM
  m.impl("scale", torch::kCUDA, &scale_rocm);
  m.def("shift(Tensor x) -> Tensor", &shift);
#else
  m.impl("scale", torch::kCUDA, &scale_cuda);
  m.def("shift(Tensor x) -> Tensor", &shift);
#endif
}
