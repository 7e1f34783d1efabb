// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor left(const at::Tensor& x) {
  return x;
}

at::Tensor right(const at::Tensor& x) {
  return x + 1;
}

void define_common(torch::Library& library) {
  library.def("left(Tensor x) -> Tensor");
  library.def("right(Tensor x) -> Tensor", &right);
}

static void implement_common(torch::Library& library) {
  library.impl("left", &left);
}

namespace nested {
void implement_nested(at::Tensor (*)(const at::Tensor&), ::torch::Library& lib) {
  lib.impl("right", &::right);
}
} // namespace nested

TORCH_LIBRARY(helped, m) {
  define_common(m);
  m.def("own(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(helped, CPU, m) {
  implement_common(m);
}

TORCH_LIBRARY_IMPL(helped, Meta, m) {
  implement_common(m);
  nested::implement_nested(&left, m);
}
