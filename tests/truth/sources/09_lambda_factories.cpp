// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

namespace {

auto adder() {
  return [](const at::Tensor& x, int64_t n) { return x + n; };
}

template <int Factor>
auto multiplier() {
  return [](const at::Tensor& x) -> at::Tensor { return x * Factor; };
}

auto offset(double by) {
  return [by](const at::Tensor& x) { return x + by; };
}

at::Tensor (*chooser(bool fast))(const at::Tensor&) {
  return fast ? static_cast<at::Tensor (*)(const at::Tensor&)>([](const at::Tensor& x) { return x + 1; }) : nullptr;
}

} // namespace

TORCH_LIBRARY(factories, m) {
  m.def("add(Tensor x, int n) -> Tensor", adder());
  m.def("times_two(Tensor x) -> Tensor");
  m.def("times_five(Tensor x) -> Tensor");
  m.def("offset(Tensor x) -> Tensor");
  m.def("chosen(Tensor x) -> Tensor", chooser(true));
}

TORCH_LIBRARY_IMPL(factories, CPU, m) {
  m.impl("times_two", multiplier<2>());
  m.impl("times_five", multiplier<5>());
  m.impl("offset", offset(0.25));
}
