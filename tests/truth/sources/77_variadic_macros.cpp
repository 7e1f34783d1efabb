// op-lint truth: load
#include <torch/library.h>

#define FULL_NAME(ns, name) #ns "::" #name
#define DEF(name, ...) m.def(#name "(" #__VA_ARGS__ ") -> Tensor")
#define IMPL(name, ...) m.impl(FULL_NAME(variadic, name) __VA_OPT__(,) __VA_ARGS__)
#define BLOCK(kind, ...) TORCH_LIBRARY##kind(variadic, __VA_ARGS__)
#define FOR_KEYS(_, ...) \
  _(CPU, __VA_ARGS__)    \
  _(CUDA, __VA_ARGS__)   \
  _(Meta, __VA_ARGS__)
#define IMPL_AT(key, name, function) m.impl(#name, c10::DispatchKey::key, function);
#define BLOCK_AT(key, name, function)         \
  TORCH_LIBRARY_IMPL(variadic, key, m) {      \
    m.impl(#name, TORCH_FN(function));        \
  }
#define IN_BLOCK(...) \
  BLOCK(_FRAGMENT, m) { __VA_ARGS__ }

at::Tensor three(const at::Tensor& x, int64_t n, double f) {
  return x;
}

at::Tensor one(const at::Tensor& x) {
  return x;
}

BLOCK(, m) {
  DEF(three, Tensor x, int n, float f);
  DEF(one, Tensor x);
  DEF(other, Tensor x);
  FOR_KEYS(IMPL_AT, other, &one)
}

BLOCK(_IMPL, CPU, m) {
  IMPL(three, &three);
}

IN_BLOCK(
    m.def("inner(Tensor x) -> Tensor");
    m.impl("inner", torch::dispatch(c10::DispatchKey::CPU, &one));)

FOR_KEYS(BLOCK_AT, one, one)
