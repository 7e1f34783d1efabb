// op-lint truth: load -DHAVE_WIDE
#include <ATen/ATen.h>
#include <torch/library.h>
#include <torch/types.h>

at::Tensor narrow_sum(const at::Tensor& x) {
  return x.sum();
}

at::Tensor wide_sum(const at::Tensor& x, int64_t lanes) {
  return x.sum() * lanes;
}

TORCH_LIBRARY(inside, m) {
  m.def("always(Tensor x) -> Tensor");
#ifdef HAVE_WIDE
  m.def("sum(Tensor x, int lanes) -> Tensor");
  m.impl("sum", torch::kCPU, &wide_sum);
#else
  m.def("sum(Tensor x) -> Tensor");
  m.impl("sum", torch::kCPU, &narrow_sum);
#endif
#if !defined(HAVE_WIDE) || defined(FORCE_NARROW)
  m.def("narrow(Tensor x) -> Tensor", &narrow_sum);
#elif defined(HAVE_HUGE)
  m.def("huge(Tensor x, int lanes) -> Tensor", &wide_sum);
#else
  m.def("wide(Tensor x, int lanes) -> Tensor", &wide_sum);
#ifdef HAVE_HUGE
  m.def("never_here(Tensor x) -> Tensor", &narrow_sum);
#endif
#endif
#ifndef USE_ROCM
  m.impl("always", torch::kCPU, &narrow_sum);
#endif
}
