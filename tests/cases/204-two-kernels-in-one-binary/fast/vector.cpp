#include <torch/library.h>

at::Tensor scale_fast(const at::Tensor& x) { return x.clone(); }

TORCH_LIBRARY_IMPL(demo, CPU, m) {
  m.impl("scale", &scale_fast);  // expect: OPL204
}
