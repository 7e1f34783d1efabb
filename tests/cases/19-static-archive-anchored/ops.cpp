#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor twice(const at::Tensor& x) { return x + x; }
TORCH_LIBRARY(demo_ops, m) {
  m.def("twice(Tensor x) -> Tensor", &twice);
}
extern "C" int demo_ops_anchor() { return 1; }
