// op-lint truth: load
#include <torch/library.h>

#include <utility>

at::Tensor id(const at::Tensor& x) {
  return x;
}

template <typename T>
struct Ops {
  template <int N>
  static at::Tensor repeat(const at::Tensor& x, T value) {
    return x;
  }
};

namespace deep {
namespace er {
template <class... Ts>
at::Tensor many(const at::Tensor& x, Ts... values) {
  return x;
}
} // namespace er
} // namespace deep

TORCH_LIBRARY(objects2, m) {
  m.def("wrapped(Tensor x) -> Tensor", torch::CppFunction(&id));
  m.def("moved(Tensor x) -> Tensor");
  m.def("constructed(Tensor x) -> Tensor");
  m.def("repeat(Tensor x, float value) -> Tensor", &Ops<double>::template repeat<3>);
  m.def("many(Tensor x, int a, bool b) -> Tensor", &deep::er::many<int64_t, bool>);
  m.def("fn(Tensor x, int a) -> Tensor", TORCH_FN(deep::er::many<int64_t>));
}

TORCH_LIBRARY_IMPL(objects2, CPU, m) {
  torch::CppFunction function(&id);
  m.impl("moved", std::move(function));
  m.impl("constructed", torch::CppFunction(TORCH_FN(id)));
  auto fallthrough = torch::CppFunction::makeFallthrough();
  m.impl("wrapped", std::move(fallthrough));
}
