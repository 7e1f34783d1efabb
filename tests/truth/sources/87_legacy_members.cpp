// op-lint truth: load
#include <ATen/core/op_registration/op_registration.h>
#include <torch/library.h>

at::Tensor id(const at::Tensor& x) {
  return x;
}

struct Holder {
  torch::RegisterOperators operators = torch::RegisterOperators("legacy_member::held(Tensor x) -> Tensor", &id);
};
static Holder holder;

struct Listed {
  Listed() : operators(torch::RegisterOperators().op("legacy_member::listed(Tensor x) -> Tensor", &id)) {}
  c10::RegisterOperators operators;
};
static Listed listed;

static void on_demand() {
  static auto late = torch::RegisterOperators().op("legacy_member::late(Tensor x) -> Tensor", &id);
}
static const bool done = (on_demand(), true);
