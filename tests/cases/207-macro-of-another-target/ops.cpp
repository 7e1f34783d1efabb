#include <torch/library.h>

TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {  // expect: OPL207
  m.def("scale(Tensor x) -> Tensor");
}
