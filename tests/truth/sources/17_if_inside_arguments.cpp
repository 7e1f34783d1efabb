// op-lint truth: load -DWITH_BIAS
#include <ATen/ATen.h>
#include <torch/library.h>

#ifdef WITH_BIAS
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return x.matmul(weight) + bias;
}
#else
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight) {
  return x.matmul(weight);
}
#endif

at::Tensor slow(const at::Tensor& x) {
  return x;
}

at::Tensor quick(const at::Tensor& x) {
  return x;
}

TORCH_LIBRARY(arguments, m) {
  m.def(
      "linear(Tensor x, Tensor weight"
#ifdef WITH_BIAS
      ", Tensor bias"
#endif
      ") -> Tensor");
  m.def("pick(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(arguments, CPU, m) {
  m.impl("linear", &linear);
  m.impl(
      "pick",
#if defined(WITH_BIAS)
      &quick
#else
      &slow
#endif
  );
}
