#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor nms_cpu(const at::Tensor& boxes);

TORCH_LIBRARY(demo, m) {
  m.def("nms(Tensor boxes) -> Tensor");
  m.def("sort(Tensor boxes) -> Tensor");
}

TORCH_LIBRARY_IMPL(demo, CPU, m) {
  m.impl("nms", &nms_cpu);
  m.impl("sort", &nms_cpu);
}
