// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

#define SUFFIX fast
#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define LIBRARY(name, m) TORCH_LIBRARY(name, m)
#define LIBRARY_IMPL(name, key, m) TORCH_LIBRARY_IMPL(name, key, m)
#define PROJECT solver

at::Tensor relax(const at::Tensor& x, int64_t rounds) {
  return x * rounds;
}

LIBRARY(CONCAT(solver_, SUFFIX), m) {
  m.def("relax(Tensor x, int rounds) -> Tensor");
}

LIBRARY_IMPL(CONCAT(CONCAT(PROJECT, _), SUFFIX), CPU, m) {
  m.impl("relax", &relax);
}

LIBRARY(PROJECT, m) {
  m.def("relax(Tensor x, int rounds) -> Tensor", &relax);
}
