#include <torch/library.h>

TORCH_LIBRARY_FRAGMENT(demo, m) {
  m.def("other::b(Tensor x) -> Tensor");
}
