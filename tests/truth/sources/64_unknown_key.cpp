// op-lint truth: text
#include <torch/library.h>

at::Tensor relu(const at::Tensor& x) {
  return x.relu();
}

TORCH_LIBRARY(unknown_key, m) {
  m.def("relu(Tensor x) -> Tensor");
  m.impl("relu", c10::DispatchKey::NPU, &relu);
}

TORCH_LIBRARY_IMPL(unknown_key, NPU, m) {
  m.impl("relu", &relu);
}

TORCH_LIBRARY_IMPL(unknown_key, Cuda, m) {
  m.impl("relu", TORCH_FN(relu));
}
