// op-lint truth: load
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

void to_host(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  op.callBoxed(stack);
}

void with_keys(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  op.redispatchBoxed(keys, stack);
}

TORCH_LIBRARY_IMPL(_, XLA, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&to_host>());
}

TORCH_LIBRARY_IMPL(_, AutogradPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}

#define FALLBACK_FOR(key)                                                    \
  TORCH_LIBRARY_IMPL(_, key, m) {                                            \
    m.fallback(torch::CppFunction::makeFromBoxedFunction<&with_keys>());     \
  }

FALLBACK_FOR(MAIA)
FALLBACK_FOR(HPU)
