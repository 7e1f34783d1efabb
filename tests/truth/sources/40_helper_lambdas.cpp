// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor pad(const at::Tensor& x, int64_t n) {
  return x + n;
}

TORCH_LIBRARY(lambdahelp, m) {
  auto define = [](torch::Library& library) {
    library.def("pad(Tensor x, int n) -> Tensor");
    library.def("pad_more(Tensor x, int n) -> Tensor", &pad);
  };
  define(m);
  [&] { m.def("pad_now(Tensor x, int n) -> Tensor"); }();
}

static const auto implement = [](torch::Library& library) -> void { library.impl("pad", &pad); };

TORCH_LIBRARY_IMPL(lambdahelp, CPU, m) {
  implement(m);
}
