// op-lint truth: load
// Déplace une fenêtre — 窗口 — по тензору.
#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor déplacer(const at::Tensor& x, int64_t größe) {
  return x + größe;
}

/* Ünïcödé → before the block: columns in bytes and characters differ */ TORCH_LIBRARY(unicode, m) {
  /* größe */ m.def("move(Tensor x, int n) -> Tensor");  // «move»
  m.def("say(Tensor x, str greeting='grüße') -> Tensor", [](const at::Tensor& x, c10::string_view) { return x; });
}

TORCH_LIBRARY_IMPL(unicode, CPU, m) {
  /* 窗口 */ m.impl("move", &déplacer);
}
