// op-lint truth: load
#include "84_header_macros.h"

namespace project {
at::Tensor declared_in_header(const at::Tensor& x, int64_t n) {
  return x;
}

static at::Tensor local(const at::Tensor& x) {
  return x;
}

PROJECT_LIBRARY(m) {
  m.def("declared(Tensor x, int n) -> Tensor");
  PROJECT_OP("local", "(Tensor x) -> Tensor", &local)
}
} // namespace project

PROJECT_IMPL(CPU, m) {
  m.impl("declared", &project::declared_in_header);
}
