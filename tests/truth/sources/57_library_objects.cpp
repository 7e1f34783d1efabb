// op-lint truth: load
#include <torch/library.h>

at::Tensor id(const at::Tensor& x) {
  return x;
}

static auto library = MAKE_TORCH_LIBRARY(objects);
static auto registered = [] {
  library.def("a(Tensor x) -> Tensor");
  library.def("b(Tensor x) -> Tensor", &id);
  return 0;
}();

// clang-format off
static torch::Library implementations(torch::Library::IMPL, "objects", std::make_optional(c10::DispatchKey::CPU), __FILE__, __LINE__);
// clang-format on

struct Registrar {
  Registrar() {
    implementations.impl("a", &id);
  }
};
static Registrar registrar;

static torch::Library& more() {
  static auto m = MAKE_TORCH_LIBRARY_IMPL(objects, Meta);
  m.impl("a", &id);
  return m;
}
static torch::Library& kept = more();
