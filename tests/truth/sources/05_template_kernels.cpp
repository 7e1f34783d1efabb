// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

namespace {

template <int Bits>
at::Tensor pack(const at::Tensor& x) {
  return x * Bits;
}

template <typename Scalar, bool Inverse>
at::Tensor transform(const at::Tensor& x, Scalar factor) {
  return Inverse ? x / factor : x * factor;
}

template <class Policy>
struct Runner {
  static at::Tensor run(const at::Tensor& x, int64_t n) {
    return x + n;
  }
  template <int Step>
  static at::Tensor step(const at::Tensor& x) {
    return x + Step;
  }
};

struct Eager {};

template <int Bits>
constexpr auto unpack = &pack<Bits>;

template <typename T, T Value>
inline constexpr at::Tensor (*shifted)(const at::Tensor&) = &Runner<Eager>::template step<Value>;

} // namespace

TORCH_LIBRARY(templates, m) {
  m.def("pack_2(Tensor x) -> Tensor");
  m.def("pack_4(Tensor x) -> Tensor");
  m.def("scale(Tensor x, float factor) -> Tensor");
  m.def("unscale(Tensor x, int factor) -> Tensor");
  m.def("run(Tensor x, int n) -> Tensor");
  m.def("step(Tensor x) -> Tensor", &Runner<Eager>::step<3>);
  m.def("unpack_8(Tensor x) -> Tensor", unpack<8>);
  m.def("shifted(Tensor x) -> Tensor", shifted<int, 4>);
}

TORCH_LIBRARY_IMPL(templates, CPU, m) {
  m.impl("pack_2", &pack<2>);
  m.impl("pack_4", pack<4>);
  m.impl("scale", transform<double, false>);
  m.impl("unscale", TORCH_FN((transform<int64_t, true>)));
  m.impl("run", &Runner<Eager>::run);
}
