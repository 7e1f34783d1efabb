// op-lint truth: load
#include <torch/library.h>
#include <torch/types.h>

at::Tensor norm(const at::Tensor& x) {
  return x.norm();
}

at::Tensor norm_meta(const at::Tensor& x) {
  return at::empty({}, x.options());
}

TORCH_LIBRARY(helper, m) {
  m.def("norm(Tensor x) -> Tensor");
  m.impl("norm", torch::dispatch(c10::DispatchKey::CPU, &norm));
  m.impl("norm", torch::dispatch(torch::kMeta, TORCH_FN(norm_meta)));
  m.impl("norm", torch::dispatch(at::kXPU, norm));
  m.def("norm2(Tensor x) -> Tensor", torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, &norm));
  m.def("norm3(Tensor x) -> Tensor", torch::dispatch(c10::kCUDA, [](const at::Tensor& x) { return x.norm(3); }));
  m.def("norm4(Tensor x) -> Tensor");
  m.impl("norm4", torch::dispatch(c10::DispatchKey::CatchAll, TORCH_FN(norm)));
  m.impl(
      "norm4",
      torch::dispatch(
          c10::DispatchKey::AutogradCPU,
          torch::CppFunction::makeFallthrough()));
}

TORCH_LIBRARY_IMPL(helper, MPS, m) {
  m.impl("norm", torch::dispatch(c10::DispatchKey::MPS, TORCH_FN(norm)));
}
