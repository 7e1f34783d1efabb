// op-lint truth: load
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

namespace boxing {

void generic(const c10::OperatorHandle&, torch::jit::Stack*) {}

void keyed(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack*) {}

at::Tensor plain(const at::Tensor& x) {
  return x;
}

TORCH_LIBRARY(boxing, m) {
  m.def("plain(Tensor x) -> Tensor", torch::CppFunction::makeFromBoxedFunction<&generic>());
  m.def("other(Tensor x) -> Tensor");
  m.def("third(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(boxing, CPU, m) {
  m.impl("other", torch::CppFunction::makeFromBoxedFunction<boxing::keyed>());
  m.impl("third", torch::CppFunction::makeFromUnboxedFunction(&plain));
}

TORCH_LIBRARY_IMPL(boxing, Autograd, m) {
  m.impl("other", torch::autograd::autogradNotImplementedFallback());
  m.impl("third", torch::autograd::autogradNotImplementedInplaceOrViewFallback());
}

TORCH_LIBRARY_IMPL(boxing, Meta, m) {
  m.impl("other", torch::CppFunction::makeFallthrough());
  m.impl("third", torch::CppFunction::makeFromUnboxedFunction(TORCH_FN(plain)));
}

} // namespace boxing
