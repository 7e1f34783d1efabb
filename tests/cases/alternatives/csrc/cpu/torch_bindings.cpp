// The CPU build compiles this file instead of the one above it.
#include <torch/library.h>

at::Tensor scale_cpu(const at::Tensor& x);

TORCH_LIBRARY(demo_ops, m) {
  m.def("scale(Tensor x) -> Tensor");
  m.impl("scale", torch::kCPU, &scale_cpu);
}
