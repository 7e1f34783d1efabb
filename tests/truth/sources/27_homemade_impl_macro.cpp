// op-lint truth: load
#include <torch/library.h>

#define UNIQUE_(a, b) a##b
#define UNIQUE(a, b) UNIQUE_(a, b)

#define REGISTER_BACKEND(ns, key, m)                                                              \
  static void UNIQUE(register_##ns##_##key##_, __LINE__)(torch::Library&);                        \
  static const torch::detail::TorchLibraryInit UNIQUE(init_##ns##_##key##_, __LINE__)(            \
      torch::Library::IMPL,                                                                       \
      &UNIQUE(register_##ns##_##key##_, __LINE__),                                                \
      #ns,                                                                                        \
      std::make_optional(c10::DispatchKey::key),                                                  \
      __FILE__,                                                                                   \
      __LINE__);                                                                                  \
  void UNIQUE(register_##ns##_##key##_, __LINE__)(torch::Library & m)

at::Tensor tile(const at::Tensor& x, at::IntArrayRef repeats) {
  return x.repeat(repeats);
}

static void define_operators(torch::Library& lib) {
  lib.def("tile(Tensor x, int[] repeats) -> Tensor");
}

// clang-format off
static const torch::detail::TorchLibraryInit definitions(torch::Library::DEF, &define_operators, "homemade", std::nullopt, __FILE__, __LINE__);
// clang-format on

REGISTER_BACKEND(homemade, CPU, m) {
  m.impl("tile", &tile);
}

REGISTER_BACKEND(homemade, Meta, m) {
  m.impl("tile", &tile);
}
