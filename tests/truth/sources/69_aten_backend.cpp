// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

namespace {

at::Tensor& fill_scalar(at::Tensor& self, const at::Scalar& value) {
  return self;
}

at::Tensor add_tensor(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha) {
  return self;
}

at::Tensor empty_memory_format(
    c10::IntArrayRef size,
    std::optional<c10::ScalarType> dtype,
    std::optional<c10::Layout> layout,
    std::optional<c10::Device> device,
    std::optional<bool> pin_memory,
    std::optional<c10::MemoryFormat> memory_format) {
  return at::Tensor();
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("fill_.Scalar", &fill_scalar);
  m.impl("add.Tensor", TORCH_FN(add_tensor));
  m.impl("empty.memory_format", &empty_memory_format);
  m.impl(TORCH_SELECTIVE_NAME("aten::relu"), [](const at::Tensor& self) { return self; });
}

TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {
  m.impl("relu", torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("op_lint_truth_extra(Tensor self) -> Tensor");
}
