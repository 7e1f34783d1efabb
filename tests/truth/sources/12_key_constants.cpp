// op-lint truth: load
#include <torch/library.h>

#define DEVICE_KEY c10::DispatchKey::XPU

namespace keys {
constexpr auto kHost = c10::DispatchKey::CPU;
constexpr c10::DispatchKey kAccelerator = c10::DispatchKey::CUDA;
static const c10::DeviceType kDevice = c10::DeviceType::Meta;
struct Backend {
  static constexpr c10::DispatchKey key = c10::DispatchKey::PrivateUse1;
};
} // namespace keys

at::Tensor ident(const at::Tensor& x) {
  return x.clone();
}

TORCH_LIBRARY(constants, m) {
  constexpr c10::DispatchKey local = c10::DispatchKey::MPS;
  using c10::DispatchKey;
  m.def("ident(Tensor x) -> Tensor");
  m.impl("ident", keys::kHost, &ident);
  m.impl("ident", keys::kAccelerator, &ident);
  m.impl("ident", keys::kDevice, &ident);
  m.impl("ident", keys::Backend::key, &ident);
  m.impl("ident", local, &ident);
  m.impl("ident", DEVICE_KEY, &ident);
  m.impl("ident", DispatchKey::AutogradXPU, torch::CppFunction::makeFallthrough());
}
