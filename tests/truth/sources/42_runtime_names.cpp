// op-lint truth: load unresolved
#include <torch/library.h>

#include <cstdlib>
#include <string>
#include <vector>

at::Tensor forward(const at::Tensor& x) {
  return x;
}

static const std::vector<std::string> kNames = {"alpha", "beta"};

static std::string suffix() {
  const char* given = std::getenv("OP_LINT_TRUTH_SUFFIX");
  return given ? given : "default";
}

TORCH_LIBRARY(runtime_names, m) {
  for (const auto& name : kNames) {
    m.def((name + "(Tensor x) -> Tensor").c_str());
  }
  m.def(("op_" + suffix() + "(Tensor x) -> Tensor").c_str(), &forward);
  m.def(c10::FunctionSchema(
      "runtime_names::built",
      "",
      {c10::Argument("x", c10::TensorType::get())},
      {c10::Argument("", c10::TensorType::get())}));
  m.def("known(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(runtime_names, CPU, m) {
  for (const auto& name : kNames) {
    m.impl(name.c_str(), &forward);
  }
  m.impl("known", &forward);
}
