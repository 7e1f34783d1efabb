// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor wrap(const at::Tensor& x, int64_t n) {
  return x + n;
}

TORCH_LIBRARY(windows, m) {
  m.def(
      "wrap(Tensor x, "
      "int n) "
      "-> Tensor");
	m.def("tab(Tensor x, int n) -> Tensor", &wrap);
}

#define IMPLEMENT(name) \
  m.impl(name, \
         &wrap)

TORCH_LIBRARY_IMPL(windows, CPU, m) {
  IMPLEMENT("wrap");
}
