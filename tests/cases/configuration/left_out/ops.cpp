#include <torch/library.h>

TORCH_LIBRARY(demo, m) {
  m.def("other::a(Tensor x) -> Tensor");
}
