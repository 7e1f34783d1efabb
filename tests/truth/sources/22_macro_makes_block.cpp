// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

#define BATCH_OP_DISPATCH(KEY, NAME, FUNCTION)                                    \
  TORCH_LIBRARY_IMPL(batch, KEY, m) {                                             \
    m.impl(NAME, torch::dispatch(c10::DispatchKey::KEY, TORCH_FN(FUNCTION)));     \
  }

#define DISPATCH_TO_CPU(name, function) m.impl(name, torch::dispatch(c10::DispatchKey::CPU, TORCH_FN(function)))
#define DISPATCH_TO_META(name, function) \
  m.impl(name, torch::dispatch(c10::DispatchKey::Meta, TORCH_FN(function)))

at::Tensor gather(const at::Tensor& x, const at::Tensor& index) {
  return x.index_select(0, index);
}

at::Tensor gather_meta(const at::Tensor& x, const at::Tensor& index) {
  return at::empty_like(index);
}

TORCH_LIBRARY_FRAGMENT(batch, m) {
  m.def("gather(Tensor x, Tensor index) -> Tensor");
  m.def("regather(Tensor x, Tensor index) -> Tensor");
  DISPATCH_TO_CPU("regather", gather);
  DISPATCH_TO_META(
      "regather",
      gather_meta);
}

BATCH_OP_DISPATCH(CPU, "gather", gather);
BATCH_OP_DISPATCH(Meta, "gather", gather_meta)
BATCH_OP_DISPATCH(
    CUDA,
    "gather",
    gather)
