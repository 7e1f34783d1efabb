// op-lint truth: load
#include <torch/library.h>

at::Tensor id(const at::Tensor& x) {
  return x;
}

TORCH_LIBRARY(redefined, m) {
#define OP(name) m.def(#name "(Tensor x) -> Tensor");
#include "78_names.inc"
#undef OP
#define OP(name) m.def(#name "_too(Tensor x) -> Tensor", &id);
#include "78_names.inc"
#undef OP
}

#define OP(name) m.impl(#name, &id);
TORCH_LIBRARY_IMPL(redefined, CPU, m) {
#include "78_names.inc"
}
TORCH_LIBRARY_IMPL(redefined, Meta, m) {
#include "78_names.inc"
}
#undef OP
