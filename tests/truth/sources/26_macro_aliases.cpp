// op-lint truth: load
#include <torch/library.h>

#define REGISTER_LIBRARY TORCH_LIBRARY
#define REGISTER_LIBRARY_IMPL TORCH_LIBRARY_IMPL
#define OPS_NAME aliased
#define LIB_DEF m.def
#define KERNEL(f) &f

at::Tensor flip(const at::Tensor& x) {
  return x.flip(0);
}

at::Tensor turn(const at::Tensor& x) {
  return x.t();
}

REGISTER_LIBRARY(aliased, m) {
  LIB_DEF("flip(Tensor x) -> Tensor");
  LIB_DEF("turn(Tensor x) -> Tensor", KERNEL(turn));
}

REGISTER_LIBRARY_IMPL(aliased, CPU, m) {
  m.impl("flip", KERNEL(flip));
}
