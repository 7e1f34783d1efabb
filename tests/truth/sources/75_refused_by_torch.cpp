// op-lint truth: read
#include <torch/library.h>

// Torch aborts when this is loaded, and yet every call must be read.
at::Tensor f(const at::Tensor& x) {
  return x;
}


TORCH_LIBRARY(refused, m) {
  m.def("twice(Tensor x) -> Tensor");
  m.def("twice(Tensor x, int n) -> Tensor");
  m.def("other::place(Tensor x) -> Tensor");
  m.def("broken(Tensr x) -> Tensor");
  m.def("arrow(Tensor x)");
  m.def("name_only");
  m.def("", &f);
}

TORCH_LIBRARY_IMPL(refused, CPU, m) {
  m.def("in_impl_block(Tensor x) -> Tensor");
  m.impl("other::twice", &f);
  m.impl("undefined_operator", &f);
  m.impl("twice", torch::dispatch(c10::DispatchKey::CUDA, &f));
}

TORCH_LIBRARY_IMPL(_, CPU, m) {
  m.impl("wildcard", &f);
}

TORCH_LIBRARY_IMPL(refused, Meta, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}
