// op-lint: ignore-file[OPL206] generated
#include <torch/library.h>

TORCH_LIBRARY_FRAGMENT(demo, m) {
  m.def("other::a2(Tensor x) -> Tensor");
  m.def("other::b2(Tensor x) -> Tensor");
}
