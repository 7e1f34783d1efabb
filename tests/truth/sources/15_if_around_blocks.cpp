// op-lint truth: load -DUSE_FAST=1 -DSOLVER_LEVEL=3
#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor solve(const at::Tensor& x) {
  return x;
}

at::Tensor solve_fast(const at::Tensor& x) {
  return x + 0;
}

TORCH_LIBRARY(arms, m) {
  m.def("solve(Tensor x) -> Tensor");
}

#if USE_FAST
TORCH_LIBRARY_IMPL(arms, CPU, m) {
  m.impl("solve", &solve_fast);
}
#else
TORCH_LIBRARY_IMPL(arms, CPU, m) {
  m.impl("solve", &solve);
}
#endif

#ifdef USE_ROCM
TORCH_LIBRARY_IMPL(arms, CUDA, m) {
  m.impl("solve", &solve);
}
#elif defined(USE_XPU)
TORCH_LIBRARY_IMPL(arms, XPU, m) {
  m.impl("solve", &solve);
}
#else
TORCH_LIBRARY_IMPL(arms, Meta, m) {
  m.impl("solve", &solve);
}
#endif

#if defined(SOLVER_LEVEL) && SOLVER_LEVEL >= 2
#ifndef WITHOUT_EXTRA
TORCH_LIBRARY_FRAGMENT(arms, m) {
  m.def("refine(Tensor x) -> Tensor", &solve_fast);
}
#endif
#endif
