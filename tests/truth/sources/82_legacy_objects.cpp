// op-lint truth: load unresolved
#include <ATen/core/op_registration/op_registration.h>
#include <torch/library.h>

at::Tensor id(const at::Tensor& x) {
  return x;
}

static c10::RegisterOperators& registry() {
  static c10::RegisterOperators operators =
      c10::RegisterOperators().op("legacy2::inside(Tensor x) -> Tensor", &id);
  return operators;
}

static const bool more = [] {
  registry().op(c10::RegisterOperators::options().schema("legacy2::more(Tensor x) -> Tensor").catchAllKernel(&id));
  return true;
}();

#define LEGACY(name) static auto legacy_##name = torch::RegisterOperators().op("legacy2::" #name, &id)
LEGACY(alpha);
LEGACY(beta);
