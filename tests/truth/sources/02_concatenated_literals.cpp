// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor join(const at::Tensor& left, const at::Tensor& right, int64_t axis, c10::string_view mode) {
  return left + right + axis;
}

at::Tensor split(const at::Tensor& whole, int64_t parts) {
  return whole / parts;
}

TORCH_LIBRARY(pieces, m) {
  m.def(
      "join(Tensor left, "
      "Tensor right, "  // the second operand
      "int axis=0, *, "
      /* a mode, quoted inside */ "str mode=\"exact\") "
      "-> Tensor");
  m.def("split(Tensor whole, int parts)" " -> " "Tensor");
  m.def("tab\x62" "ed(Tensor x,\tint n) \
-> Tensor", [](const at::Tensor& x, int64_t n) { return x * n; });
  m.def("octa\154(Tensor x,\n int n) -> Tensor", [](const at::Tensor& x, int64_t n) { return x + n; });
}

TORCH_LIBRARY_IMPL(pieces, CPU, m) {
  m.impl("jo" "in", &join);
  m.impl(
      "spl"
      "it",
      &split);
}
