// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

static constexpr const char* kName = "resample";
static constexpr char kSchema[] =
    "resample(Tensor x, "
    "float rate) -> Tensor";
const char* const kOther = "other(Tensor x) -> Tensor";
#define EXPLICIT_NAME "explicit"

namespace names {
struct Schemas {
  static constexpr const char* kMember = "member(Tensor x) -> Tensor";
};
inline constexpr auto kAuto = "auto_deduced(Tensor x) -> Tensor";
} // namespace names

at::Tensor resample(const at::Tensor& x, double rate) {
  return x * rate;
}

TORCH_LIBRARY(constant, m) {
  m.def(kSchema);
  m.def(kOther);
  m.def(names::Schemas::kMember);
  m.def(names::kAuto);
  m.def(EXPLICIT_NAME "(Tensor x, float rate) -> Tensor");
  constexpr const char* local = "local(Tensor x) -> Tensor";
  m.def(local);
}

TORCH_LIBRARY_IMPL(constant, CPU, m) {
  m.impl(kName, &resample);
  m.impl(EXPLICIT_NAME, &resample);
}
