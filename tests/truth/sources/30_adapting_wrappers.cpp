// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

namespace {

float scale_kernel(float x) {
  return x * 2;
}

at::Tensor shift_kernel(at::Tensor x, int amount, float factor) {
  return x + amount * factor;
}

template <typename T>
struct Widened {
  using type = T;
};
template <>
struct Widened<float> {
  using type = double;
};
template <>
struct Widened<int> {
  using type = int64_t;
};

template <auto Function>
struct Adapter;

template <typename Result, typename... Arguments, Result (*Function)(Arguments...)>
struct Adapter<Function> {
  static typename Widened<Result>::type call(typename Widened<Arguments>::type... arguments) {
    return Function(static_cast<Arguments>(arguments)...);
  }
};

template <auto Function>
constexpr auto adapted = &Adapter<Function>::call;

template <typename Result, typename... Arguments>
auto widen(Result (*function)(Arguments...)) {
  return [function](typename Widened<Arguments>::type... arguments) -> typename Widened<Result>::type {
    return function(static_cast<Arguments>(arguments)...);
  };
}

} // namespace

TORCH_LIBRARY(wrapped, m) {
  m.def("scale(float x) -> float");
  m.def("shift(Tensor x, int amount, float factor) -> Tensor");
  m.def("shift_again(Tensor x, int amount, float factor) -> Tensor");
}

TORCH_LIBRARY_IMPL(wrapped, CompositeExplicitAutograd, m) {
  m.impl("scale", adapted<&scale_kernel>);
  m.impl("shift", &Adapter<&shift_kernel>::call);
  m.impl("shift_again", widen(&shift_kernel));
}
