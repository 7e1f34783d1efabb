// op-lint truth: load
#include <torch/library.h>

at::Tensor id(const at::Tensor& x) {
  return x;
}

TORCH_LIBRARY(chained, m) {
  m.def("a(Tensor x) -> Tensor")
      .def("b(Tensor x) -> Tensor", &id)
      .impl("a", c10::DispatchKey::CPU, &id)
      .def(
          "c(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(chained, Meta, m) {
  m.impl("a", &id).impl("c", TORCH_FN(id));
}
