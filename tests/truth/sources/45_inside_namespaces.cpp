// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

namespace outer {

at::Tensor step(const at::Tensor& x) {
  return x;
}

namespace inner {

at::Tensor step(const at::Tensor& x) {
  return x + 1;
}

namespace {

at::Tensor hidden(const at::Tensor& x) {
  return x;
}

TORCH_LIBRARY(spaces, m) {
  m.def("step(Tensor x) -> Tensor", &step);
  m.def("outer_step(Tensor x) -> Tensor", &outer::step);
  m.def("hidden(Tensor x) -> Tensor");
}

} // namespace

TORCH_LIBRARY_IMPL(spaces, CPU, m) {
  m.impl("hidden", &hidden);
}

inline namespace v2 {
TORCH_LIBRARY_IMPL(spaces, Meta, m) {
  m.impl("hidden", &step);
}
} // namespace v2

} // namespace inner
} // namespace outer

namespace alias = outer::inner;
using namespace outer;

TORCH_LIBRARY_IMPL(spaces, CUDA, m) {
  m.impl("hidden", &alias::step);
  using alias::step;
  m.impl("step", TORCH_FN(inner::step));
}

extern "C" {
TORCH_LIBRARY_FRAGMENT(spaces, m) {
  m.def("from_c(Tensor x) -> Tensor");
}
}
