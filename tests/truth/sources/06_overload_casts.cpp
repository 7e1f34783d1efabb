// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

namespace mix {

at::Tensor blend(const at::Tensor& a, const at::Tensor& b) {
  return a + b;
}

at::Tensor blend(const at::Tensor& a, double weight) {
  return a * weight;
}

at::Tensor& blend(const at::Tensor& a, const at::Tensor& b, at::Tensor& out) {
  return out.copy_(a + b);
}

using Binary = at::Tensor(const at::Tensor&, const at::Tensor&);
typedef at::Tensor (*Weighted)(const at::Tensor&, double);

} // namespace mix

TORCH_LIBRARY(mix, m) {
  m.def("blend.Tensor(Tensor a, Tensor b) -> Tensor");
  m.def("blend.Scalar(Tensor a, float weight) -> Tensor");
  m.def("blend.out(Tensor a, Tensor b, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("blend_twice(Tensor a, Tensor b) -> Tensor");
  m.def("blend_local(Tensor a, float weight) -> Tensor");
}

TORCH_LIBRARY_IMPL(mix, CPU, m) {
  m.impl("blend.Tensor", static_cast<at::Tensor (*)(const at::Tensor&, const at::Tensor&)>(&mix::blend));
  m.impl("blend.Scalar", (mix::Weighted)mix::blend);
  m.impl("blend.out", static_cast<at::Tensor& (*)(const at::Tensor&, const at::Tensor&, at::Tensor&)>(mix::blend));
  m.impl("blend_twice", static_cast<mix::Binary*>(mix::blend));
  at::Tensor (*chosen)(const at::Tensor&, double) = mix::blend;
  m.impl("blend_local", chosen);
}
