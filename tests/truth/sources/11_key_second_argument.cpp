// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>
#include <torch/types.h>

void copy_blocks(const at::Tensor& source, at::Tensor& target) {
  target.copy_(source);
}

at::Tensor quantize(const at::Tensor& x, const std::optional<at::Tensor>& scale) {
  return scale ? x * *scale : x;
}

TORCH_LIBRARY(second, ops) {
  ops.def("copy_blocks(Tensor source, Tensor! target) -> ()");
  ops.impl("copy_blocks", torch::kCPU, &copy_blocks);
  ops.impl("copy_blocks", torch::kCUDA, &copy_blocks);
  ops.impl("copy_blocks", c10::DeviceType::XPU, &copy_blocks);
  ops.impl("copy_blocks", at::kPrivateUse1, &copy_blocks);

  ops.def("quantize(Tensor x, Tensor? scale) -> Tensor");
  ops.impl("quantize", c10::DispatchKey::CUDA, &quantize);
  ops.impl("quantize", c10::DispatchKey::CPU, TORCH_FN(quantize));
  ops.impl("quantize", at::DispatchKey::Meta, quantize);
  ops.impl("quantize", c10::kMPS, [](const at::Tensor& x, const std::optional<at::Tensor>&) { return x; });
}
