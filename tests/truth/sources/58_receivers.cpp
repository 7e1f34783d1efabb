// op-lint truth: load
#include <torch/library.h>

at::Tensor id(const at::Tensor& x) {
  return x;
}

struct Holder {
  torch::Library& library;
};

TORCH_LIBRARY(receivers, torch_library) {
  torch_library.def("a(Tensor x) -> Tensor");
  auto& alias = torch_library;
  alias.def("b(Tensor x) -> Tensor");
  torch::Library* pointer = &torch_library;
  pointer->def("c(Tensor x) -> Tensor");
  (*pointer).def("d(Tensor x) -> Tensor", &id);
  Holder holder{torch_library};
  holder.library.def("e(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(receivers, CPU, _) {
  _.impl("a", &id);
}
