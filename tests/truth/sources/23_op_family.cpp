// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

template <int Bits>
at::Tensor pack_weight(const at::Tensor& w) {
  return w * Bits;
}

template <int Bits>
at::Tensor linear_bits(const at::Tensor& x, const at::Tensor& w, int64_t n) {
  return x.matmul(w) + n;
}

at::Tensor unpack_2(const at::Tensor& w) {
  return w;
}

at::Tensor unpack_4(const at::Tensor& w) {
  return w;
}

#define DEFINE_OPS(bits)                                                        \
  m.def("_pack_" #bits "bit(Tensor w) -> Tensor");                              \
  m.def("_linear_" #bits "bit(Tensor x, Tensor w, int n) -> Tensor");           \
  m.def("_unpack_" #bits "bit(Tensor w) -> Tensor", &unpack_##bits)

#define DEFINE_CPU(bits)                                  \
  m.impl("_pack_" #bits "bit", &pack_weight<bits>);       \
  m.impl("_linear_" #bits "bit", &linear_bits<bits>);

TORCH_LIBRARY_FRAGMENT(family, m) {
  DEFINE_OPS(2);
  DEFINE_OPS(4);
}

TORCH_LIBRARY_IMPL(family, CPU, m) {
  DEFINE_CPU(2);
  DEFINE_CPU(4) DEFINE_CPU(2)
}
