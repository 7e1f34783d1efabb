// op-lint truth: load -DTORCH_EXTENSION_NAME=attention_C
#include <torch/library.h>
#include <torch/types.h>

#define TORCH_LIBRARY_EXPAND(NAME, MODULE) TORCH_LIBRARY(NAME, MODULE)
#define TORCH_LIBRARY_IMPL_EXPAND(NAME, DEVICE, MODULE) TORCH_LIBRARY_IMPL(NAME, DEVICE, MODULE)
#define TORCH_LIBRARY_FRAGMENT_EXPAND(NAME, MODULE) TORCH_LIBRARY_FRAGMENT(NAME, MODULE)

at::Tensor attend(const at::Tensor& query, const at::Tensor& key) {
  return query.matmul(key);
}

TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) {
  ops.def("attend(Tensor query, Tensor key) -> Tensor");
  ops.impl("attend", torch::kCPU, &attend);
}

TORCH_LIBRARY_FRAGMENT_EXPAND(TORCH_EXTENSION_NAME, ops) {
  ops.def("attend_more(Tensor query, Tensor key) -> Tensor");
}

TORCH_LIBRARY_IMPL_EXPAND(TORCH_EXTENSION_NAME, Meta, ops) {
  ops.impl("attend", &attend);
  ops.impl("attend_more", &attend);
}
