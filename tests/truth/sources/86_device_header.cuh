// op-lint truth: text
#pragma once
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <torch/library.h>

namespace device {
template <typename T>
__device__ __forceinline__ T warp_reduce(T value) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) {
    value += __shfl_xor_sync(0xffffffff, value, mask);
  }
  return value;
}
__constant__ float table[16];
__host__ __device__ inline __half to_half(float x) {
  return __float2half(x);
}
} // namespace device

inline at::Tensor reduce_cuda(at::Tensor x, double scale) {
  return x;
}

TORCH_LIBRARY_IMPL(device, CUDA, m) {
  m.impl("reduce", TORCH_FN(reduce_cuda));
}
