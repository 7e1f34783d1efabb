// op-lint truth: text
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <cub/cub.cuh>
#include <cuda_runtime.h>
#include <torch/library.h>

namespace {

template <typename scalar_t>
__global__ void __launch_bounds__(256) add_kernel(const scalar_t* __restrict__ x, scalar_t* y, int64_t n) {
  __shared__ scalar_t shared[256];
  const int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    shared[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = shared[threadIdx.x] + __ldg(x + i);
  }
}

at::Tensor add_cuda(const at::Tensor& x, int64_t n) {
  const at::cuda::OptionalCUDAGuard guard(x.device());
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  auto y = at::empty_like(x);
  add_kernel<float><<<(n + 255) / 256, 256, 0, stream>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}

} // namespace

TORCH_LIBRARY_FRAGMENT(cuda_only, m) {
  m.def("add(Tensor x, int n) -> Tensor");
}

TORCH_LIBRARY_IMPL(cuda_only, CUDA, m) {
  m.impl("add", &add_cuda);
  m.impl("add_lambda", [](const at::Tensor& x) { return add_cuda(x, x.numel()); });
}
