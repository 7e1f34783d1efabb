// op-lint truth: load -DUSE_ROCM
#include <ATen/ATen.h>
#include <torch/library.h>

#ifdef USE_ROCM
constexpr int kWarp = 64;
#else
constexpr int kWarp = 32;
#endif

template <int Width>
at::Tensor warp_sum(const at::Tensor& x) {
  return x.sum() * Width;
}

TORCH_LIBRARY_FRAGMENT(hostcode, m) {
  m.def("warp_sum(Tensor x) -> Tensor");
#ifndef USE_ROCM
  m.def("tensor_core(Tensor x) -> Tensor");
#endif
}

TORCH_LIBRARY_IMPL(hostcode, CUDA, m) {
  m.impl("warp_sum", &warp_sum<kWarp>);
#ifndef USE_ROCM
  m.impl("tensor_core", &warp_sum<16>);
#endif
}
