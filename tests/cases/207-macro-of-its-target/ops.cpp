#include <torch/library.h>

TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {
  m.def("scale(Tensor x) -> Tensor");
}
