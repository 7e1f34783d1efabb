// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor add(const at::Tensor& x, const at::Tensor& y) {
  return x + y;
}

at::Tensor add_number(const at::Tensor& x, double y) {
  return x + y;
}

TORCH_LIBRARY(overloads, m) {
  m.def("add(Tensor x, Tensor y) -> Tensor");
  m.def("add.Number(Tensor x, float y) -> Tensor");
  m.def("overloads::add.out(Tensor x, Tensor y, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("__private_name(Tensor x) -> Tensor");
  m.def("overloads::qualified.with_overload(Tensor x, float y) -> Tensor", &add_number);
}

TORCH_LIBRARY_IMPL(overloads, CPU, m) {
  m.impl("add", &add);
  m.impl("overloads::add.Number", &add_number);
}
