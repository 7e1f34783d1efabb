// op-lint truth: load
#include <torch/library.h>

#define FOR_EACH_UNARY(_) \
  _(sine, sin)            \
  _(cosine, cos)          \
  _(root, sqrt)

#define DECLARE_UNARY(name, method)             \
  at::Tensor name##_kernel(const at::Tensor& x) { \
    return x.method();                          \
  }
FOR_EACH_UNARY(DECLARE_UNARY)
#undef DECLARE_UNARY

at::Tensor clamp_kernel(const at::Tensor& x) {
  return x.clamp(0);
}

#define PICK(_1, _2, _3, NAME, ...) NAME
#define REGISTER(...) PICK(__VA_ARGS__, REGISTER_3, REGISTER_2, REGISTER_1)(__VA_ARGS__)
#define REGISTER_1(name) m.def(#name "(Tensor x) -> Tensor", &name##_kernel);
#define REGISTER_2(name, function) m.def(#name "(Tensor x) -> Tensor", &function);
#define REGISTER_3(name, function, key)                \
  m.def(#name "(Tensor x) -> Tensor");                 \
  m.impl(#name, c10::DispatchKey::key, &function);

TORCH_LIBRARY(xmacros, m) {
#define DEFINE_UNARY(name, method) m.def(#name "(Tensor x) -> Tensor");
  FOR_EACH_UNARY(DEFINE_UNARY)
#undef DEFINE_UNARY
  REGISTER(clamp)
  REGISTER(clip, clamp_kernel)
  REGISTER(limit, clamp_kernel, CPU)
}

#define IMPLEMENT_UNARY(name, method) m.impl(#name, name##_kernel);
TORCH_LIBRARY_IMPL(xmacros, CPU, m) {
  FOR_EACH_UNARY(IMPLEMENT_UNARY)
}
