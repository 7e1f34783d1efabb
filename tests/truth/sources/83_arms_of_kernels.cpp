// op-lint truth: load -DBACKEND_VERSION=2 -DUSE_CUDA
#include <torch/library.h>

#if BACKEND_VERSION >= 2
using Scale = double;
#else
using Scale = int64_t;
#endif

#if defined(USE_CUDA) && !defined(USE_ROCM)
#define BACKEND CUDA
at::Tensor grow(const at::Tensor& x, Scale by) {
  return x;
}
#elif defined(USE_ROCM)
#define BACKEND HIP
at::Tensor grow(const at::Tensor& x, Scale by) {
  return x;
}
#else
#define BACKEND CPU
at::Tensor grow(const at::Tensor& x, Scale by, bool slow = true);
#endif

#define IMPL(key, m) TORCH_LIBRARY_IMPL(kernelarms, key, m)

TORCH_LIBRARY(kernelarms, m) {
#if BACKEND_VERSION >= 2
  m.def("grow(Tensor x, float by) -> Tensor");
#else
  m.def("grow(Tensor x, int by) -> Tensor");
#endif
}

IMPL(BACKEND, m) {
#if defined(USE_CUDA) || defined(USE_ROCM)
  m.impl("grow", &grow);
#endif
}
