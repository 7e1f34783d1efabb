// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

#define COMMON_ARGUMENTS "Tensor weights, Tensor offsets, int total"
#define OPTIONAL_ARGUMENTS \
  ", Tensor? scale=None, "  \
  "bool strict=False"
#define PREFIX "table_"
#define STRINGIFY_(x) #x
#define STRINGIFY(x) STRINGIFY_(x)
#define WIDTH 4
#define RETURNS -> Tensor

at::Tensor lookup(
    const at::Tensor& weights,
    const at::Tensor& offsets,
    int64_t total,
    const std::optional<at::Tensor>& scale,
    bool strict) {
  return weights + offsets;
}

TORCH_LIBRARY(schemas, m) {
  m.def("lookup(" COMMON_ARGUMENTS OPTIONAL_ARGUMENTS ") -> Tensor");
  m.def(
      PREFIX "lookup("
             COMMON_ARGUMENTS
             ", int width=" STRINGIFY(WIDTH) ") " STRINGIFY(RETURNS));
}

TORCH_LIBRARY_IMPL(schemas, CPU, m) {
  m.impl("lookup", &lookup);
}
