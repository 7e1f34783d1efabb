#include <torch/csrc/stable/library.h>

STABLE_TORCH_LIBRARY(demo_ops, m) {
  m.def("scale(Tensor x) -> Tensor");
}
