#include <torch/library.h>

TORCH_LIBRARY_FRAGMENT(demo, m) {
  m.def("scale(Tensor x) -> Tensor");  // alone in a library of its own
}
