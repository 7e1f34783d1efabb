// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor resize_to(const at::Tensor& x, c10::SymInt rows, c10::SymIntArrayRef rest) {
  return x;
}

at::Tensor resize_meta(const at::Tensor& x, c10::SymInt rows, c10::SymIntArrayRef rest) {
  return x.new_empty_symint({rows});
}

c10::SymInt rows_of(const at::Tensor& x, std::optional<c10::SymInt> fallback, at::OptionalSymIntArrayRef shape) {
  return x.sym_size(0);
}

at::Tensor plain_ints(const at::Tensor& x, int64_t rows, at::IntArrayRef rest) {
  return x;
}

TORCH_LIBRARY(symbolic, m) {
  m.def("resize_to(Tensor x, SymInt rows, SymInt[] rest) -> Tensor");
  m.def("rows_of(Tensor x, SymInt? fallback=None, SymInt[]? shape=None) -> SymInt", &rows_of);
}

TORCH_LIBRARY_IMPL(symbolic, CPU, m) {
  m.impl("resize_to", &plain_ints);
}

TORCH_LIBRARY_IMPL(symbolic, Meta, m) {
  m.impl("resize_to", resize_meta);
}
