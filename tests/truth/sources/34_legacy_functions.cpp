// op-lint truth: load
#include <ATen/ATen.h>
#include <ATen/core/op_registration/op_registration.h>
#include <torch/library.h>

int64_t legacy_version() {
  return -1;
}

at::Tensor legacy_sum(const at::Tensor& x, int64_t axis, bool keep) {
  return x.sum(axis, keep);
}

std::tuple<at::Tensor, at::Tensor> legacy_split(at::Tensor x, double at) {
  return {x, x * at};
}

static auto registry = torch::RegisterOperators()
                           .op("legacy::version", &legacy_version)
                           .op("legacy::sum", &legacy_sum)
                           .op("legacy::split(Tensor x, float at) -> (Tensor, Tensor)", &legacy_split);

static auto single = torch::RegisterOperators("legacy::single", &legacy_version);

static c10::RegisterOperators brackets =
    c10::RegisterOperators().op("legacy::lambda", [](const at::Tensor& x) -> at::Tensor { return x; });

namespace {
auto only_schema = torch::RegisterOperators().op("legacy::schema(Tensor x) -> Tensor");
}
