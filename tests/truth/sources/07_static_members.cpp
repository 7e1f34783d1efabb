// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

struct Sampler {
  static at::Tensor draw(const at::Tensor& weights, int64_t count);
  static at::Tensor reset(const at::Tensor& state) {
    return at::zeros_like(state);
  }
  struct Nested {
    static int64_t size(const at::Tensor& state) {
      return state.numel();
    }
  };
};

at::Tensor Sampler::draw(const at::Tensor& weights, int64_t count) {
  return weights.narrow(0, 0, count);
}

template <typename T>
class Typed {
 public:
  static at::Tensor fill(const at::Tensor& state, T value) {
    return at::full_like(state, value);
  }
};

using Short = Sampler::Nested;
using TypedDouble = Typed<double>;

TORCH_LIBRARY(sampler, m) {
  m.def("draw(Tensor weights, int count) -> Tensor", &Sampler::draw);
  m.def("reset(Tensor state) -> Tensor", Sampler::reset);
  m.def("size(Tensor state) -> int", &Sampler::Nested::size);
  m.def("size_again(Tensor state) -> int", &Short::size);
  m.def("fill(Tensor state, int value) -> Tensor", &Typed<int64_t>::fill);
  m.def("fill_float(Tensor state, float value) -> Tensor", TORCH_FN(TypedDouble::fill));
}
