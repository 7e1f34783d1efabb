// The schemas of myops.
#include <Python.h>
#include <torch/library.h>

extern "C" PyObject* PyInit__C(void) {
  static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_C", nullptr, -1, nullptr};
  return PyModule_Create(&module);
}

TORCH_LIBRARY(myops, m) {
  m.def("muladd(Tensor a, Tensor b, float c) -> Tensor");
  m.def("scale(Tensor x, float s) -> Tensor");
  m.def("normalize(Tensor x, int dim=-1, float eps=1e-6) -> Tensor");
  m.def("add_(Tensor(a!) self, Tensor other) -> Tensor(a!)");
  m.def("gather_rows(Tensor x, Tensor index) -> Tensor");
  // Written for another block: the namespace in the string is not the block's.
  m.def("my_ops::gather_cols(Tensor x, Tensor index) -> Tensor");
}
