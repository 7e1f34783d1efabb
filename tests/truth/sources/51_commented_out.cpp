// op-lint truth: load
#include <torch/library.h>

at::Tensor alive(const at::Tensor& x) {
  return x;
}

// TORCH_LIBRARY(commented, m) { m.def("dead(Tensor x) -> Tensor"); }
/*
TORCH_LIBRARY_IMPL(commented, CPU, m) {
  m.impl("dead", &dead);
}
*/
// A comment that goes on \
TORCH_LIBRARY_IMPL(commented, XPU, m) { m.impl("alive", &alive); }

static const char* const kHelp = "write TORCH_LIBRARY(commented, m) { m.def(\"dead2(Tensor x) -> Tensor\"); }";
static const char* const kRaw = R"(
TORCH_LIBRARY_IMPL(commented, CUDA, m) {
  m.impl("alive", &alive);
}
)";

TORCH_LIBRARY(commented, m) {
  (void)kHelp;
  (void)kRaw;
  // m.def("dead3(Tensor x) -> Tensor");
  m.def("alive(Tensor x) -> Tensor");  // was: m.def("alive(Tensor x, int n) -> Tensor");
  /* m.impl("alive", torch::kCUDA, &alive); */
}

#if 0
TORCH_LIBRARY_IMPL(commented, MPS, m) {
  m.impl("alive", &alive);
}
#endif

TORCH_LIBRARY_IMPL(commented, CPU, m) {
#if 0
  m.impl("dead", &dead);
#endif
  m.impl("alive", &alive);
}
