#pragma once
#include <torch/library.h>

#define PROJECT_LIBRARY(m) TORCH_LIBRARY_FRAGMENT(projectwide, m)
#define PROJECT_IMPL(key, m) TORCH_LIBRARY_IMPL(projectwide, key, m)
#define PROJECT_OP(name, schema, function) \
  m.def(name schema);                      \
  m.impl(name, ::project::detail::adapt(function));

namespace project {
namespace detail {
template <typename F>
F* adapt(F* function) {
  return function;
}
} // namespace detail

at::Tensor declared_in_header(const at::Tensor& x, int64_t n);
} // namespace project
