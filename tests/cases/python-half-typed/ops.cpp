#include <torch/library.h>

TORCH_LIBRARY(demo, m) {
  m.def("scale(Tensor x) -> Tensor");
  m.def("shift(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(demo, CUDA, m) {
  m.impl("scale", &scale);
  m.impl("shift", &shift);
}
