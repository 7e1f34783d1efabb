#include <ATen/ATen.h>
#include <torch/library.h>

namespace myops {

at::Tensor muladd_cpu(const at::Tensor& a, const at::Tensor& b, double c) {
  return a * b + c;
}

// The schema says `float s`.
at::Tensor scale_cpu(const at::Tensor& x, int64_t s) {
  return x * s;
}

at::Tensor normalize_cpu(const at::Tensor& x, int64_t dim, double eps) {
  return x / (x.norm(2, dim, /*keepdim=*/true) + eps);
}

at::Tensor& add_cpu_(at::Tensor& self, const at::Tensor& other) {
  return self.add_(other);
}

at::Tensor gather_rows_cpu(const at::Tensor& x, const at::Tensor& index) {
  return x.index_select(0, index);
}

TORCH_LIBRARY_IMPL(myops, CPU, m) {
  m.impl("muladd", &muladd_cpu);
  m.impl("scale", &scale_cpu);
  m.impl("normalize", &normalize_cpu);
  m.impl("add_", &add_cpu_);
  // A slip: the operator is called gather_rows. Torch never says so.
  m.impl("gather_row", &gather_rows_cpu);
}

}  // namespace myops
