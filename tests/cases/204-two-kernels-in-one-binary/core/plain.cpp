#include <torch/library.h>

at::Tensor scale_plain(const at::Tensor& x) { return x.clone(); }

TORCH_LIBRARY_IMPL(demo, CPU, m) {
  m.impl("scale", &scale_plain);
}
