// op-lint truth: load -DTORCH_EXTENSION_NAME=stable_C
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#define REGISTER_LIBRARY STABLE_TORCH_LIBRARY
#define STABLE_EXPAND(NAME, MODULE) STABLE_TORCH_LIBRARY_FRAGMENT(NAME, MODULE)
#define STABLE_IMPL_EXPAND(NAME, KEY, MODULE) STABLE_TORCH_LIBRARY_IMPL(NAME, KEY, MODULE)
#define STABLE_BOTH(name)                      \
  m.def(#name "(Tensor x) -> Tensor");         \
  m.impl(#name, TORCH_BOX(&name));

torch::stable::Tensor spin(torch::stable::Tensor x) {
  return x;
}

torch::stable::Tensor swing(torch::stable::Tensor x) {
  return x;
}

REGISTER_LIBRARY(stablemacro, m) {
  m.def("spin(Tensor x) -> Tensor");
  STABLE_BOTH(swing)
}

STABLE_EXPAND(TORCH_EXTENSION_NAME, ops) {
  ops.def("spin(Tensor x) -> Tensor");
}

STABLE_IMPL_EXPAND(TORCH_EXTENSION_NAME, CPU, ops) {
  ops.impl("spin", TORCH_BOX(&spin));
}
