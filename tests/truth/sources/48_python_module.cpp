// op-lint truth: load
#include <torch/library.h>

TORCH_LIBRARY(pystub, m) {
  m.def("before(Tensor x) -> Tensor");
  m.set_python_module("pystub.fakes");
  m.def("first(Tensor x) -> Tensor");
  m.def("second(Tensor x) -> Tensor", [](const at::Tensor& x) { return x.clone(); });
  m.impl_abstract_pystub("pystub.more_fakes", "//pystub:fakes");
  m.def("third(Tensor x) -> Tensor");
}

TORCH_LIBRARY_FRAGMENT(pystub, m) {
  m.def("fourth(Tensor x) -> Tensor");
  m.set_python_module("pystub.fakes", "//pystub:fakes").def("fifth(Tensor x) -> Tensor");
}
