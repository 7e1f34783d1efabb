// op-lint truth: load -DNAME_OF_LIBRARY=from_flags
#include <torch/library.h>

// The build gives the namespace; nothing in the source does.
#ifndef NAME_OF_LIBRARY
#error "the build defines NAME_OF_LIBRARY"
#endif

#define DEFINE_LIBRARY(name, m) TORCH_LIBRARY_FRAGMENT(name, m)

at::Tensor id(const at::Tensor& x) {
  return x;
}

DEFINE_LIBRARY(NAME_OF_LIBRARY, m) {
  m.def("id(Tensor x) -> Tensor", &id);
}
