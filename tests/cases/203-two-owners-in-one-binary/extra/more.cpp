#include <torch/library.h>

TORCH_LIBRARY(demo, m) {  // expect: OPL203
  m.def("shift(Tensor x) -> Tensor");
}
