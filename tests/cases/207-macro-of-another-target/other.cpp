#include <torch/library.h>

TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {  // its target defines the macro
  m.def("scale(Tensor x) -> Tensor");
}
