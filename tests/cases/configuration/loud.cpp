#include <torch/library.h>

TORCH_LIBRARY_FRAGMENT(demo, m) {
  m.def("other::c(Tensor x) -> Tensor");  // expect: OPL206
}
