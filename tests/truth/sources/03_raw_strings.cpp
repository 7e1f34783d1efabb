// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor rotate(const at::Tensor& x, double angle, c10::string_view unit) {
  return x * angle;
}

at::Tensor shear(const at::Tensor& x, double amount) {
  return x * amount;
}

TORCH_LIBRARY(raw, m) {
  m.def(R"(rotate(Tensor x, float angle, str unit="degree") -> Tensor)");
  m.def(R"schema(
    shear(
      Tensor x,
      float amount
    ) -> Tensor
  )schema");
  m.def("mixed(Tensor x, "
        R"(str name='a', )"
        "int n=1) -> Tensor",
        [](const at::Tensor& x, c10::string_view name, int64_t n) { return x + n; });
}

TORCH_LIBRARY_IMPL(raw, CPU, m) {
  m.impl(R"(rotate)", &rotate);
  m.impl(R"x(shear)x", &shear);
}
