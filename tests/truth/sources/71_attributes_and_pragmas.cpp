// op-lint truth: load
#ifndef SOME_GUARD_H
#define SOME_GUARD_H
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <torch/library.h>

#if defined(__GNUC__) && !defined(__clang__)
#define HOT __attribute__((hot))
#else
#define HOT
#endif

[[nodiscard]] HOT static inline at::Tensor marked([[maybe_unused]] const at::Tensor& x, const int64_t n) noexcept(false) {
  return x;
}

TORCH_API at::Tensor exported(at::Tensor x);
at::Tensor exported(at::Tensor x) {
  return x;
}

template <class T>
[[gnu::noinline]] auto deduced(const T& x) {
  return x.clone();
}

auto trailing(const at::Tensor& x, at::IntArrayRef sizes) -> std::vector<at::Tensor> {
  return {x};
}

TORCH_LIBRARY(marked, m) {
  m.def("marked(Tensor x, int n) -> Tensor", &marked);
  m.def("exported(Tensor x) -> Tensor", exported);
  m.def("deduced(Tensor x) -> Tensor", &deduced<at::Tensor>);
  m.def("trailing(Tensor x, int[] sizes) -> Tensor[]", &trailing);
}
#pragma GCC diagnostic pop
#endif
