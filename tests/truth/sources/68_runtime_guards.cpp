// op-lint truth: load
#include <torch/library.h>
#include <torch/types.h>

static bool has_accelerator() {
  return true;
}

static constexpr bool kWithExtras = true;

at::Tensor id(const at::Tensor& x) {
  return x;
}

TORCH_LIBRARY(guarded, m) {
  m.def("id(Tensor x) -> Tensor");
  if constexpr (kWithExtras) {
    m.def("extra(Tensor x) -> Tensor");
  }
  if (has_accelerator()) {
    m.impl("id", torch::kCUDA, &id);
  }
  if (has_accelerator())
    m.impl("id", torch::kXPU, &id);
  try {
    m.impl("id", torch::kCPU, &id);
  } catch (const c10::Error&) {
  }
}
