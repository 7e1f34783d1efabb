#include <torch/library.h>

TORCH_LIBRARY_FRAGMENT(demo, m) {
  m.def("scale(Tensor x) -> Tensor");
}
