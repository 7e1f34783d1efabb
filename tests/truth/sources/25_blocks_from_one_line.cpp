// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

#define REGISTER_EVERYWHERE(ns, name, arguments, cpu, meta)  \
  TORCH_LIBRARY_FRAGMENT(ns, m) {                            \
    m.def(#name "(" arguments ") -> Tensor");                \
  }                                                          \
  TORCH_LIBRARY_IMPL(ns, CPU, m) {                           \
    m.impl(#name, cpu);                                      \
  }                                                          \
  TORCH_LIBRARY_IMPL(ns, Meta, library) {                    \
    library.impl(#name, meta);                               \
  }

at::Tensor warp(const at::Tensor& x, double by) {
  return x * by;
}

at::Tensor bend(const at::Tensor& x) {
  return x;
}

REGISTER_EVERYWHERE(geometry, warp, "Tensor x, float by", &warp, &warp)
REGISTER_EVERYWHERE(
    geometry,
    bend,
    "Tensor x",
    &bend,
    [](const at::Tensor& x) { return at::empty_like(x); })
