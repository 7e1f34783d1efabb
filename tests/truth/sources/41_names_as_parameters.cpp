// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor shift(const at::Tensor& x) {
  return x + 1;
}

static void add_unary(torch::Library& m, const char* schema) {
  m.def(schema);
}

static void implement(torch::Library& m, const char* name, at::Tensor (*function)(const at::Tensor&)) {
  m.impl(name, function);
}

template <typename Function>
void implement_any(torch::Library& m, const std::string& name, Function&& function) {
  m.impl(name.c_str(), std::forward<Function>(function));
}

TORCH_LIBRARY(parameters, m) {
  add_unary(m, "shift(Tensor x) -> Tensor");
  add_unary(m, "slide(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(parameters, CPU, m) {
  implement(m, "shift", &shift);
  implement_any(m, "slide", &shift);
}
