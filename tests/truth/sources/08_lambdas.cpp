// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

#include <utility>

TORCH_LIBRARY(lambdas, m) {
  m.def("double(Tensor x) -> Tensor", [](const at::Tensor& x) { return x + x; });
  m.def("count(Tensor x) -> int", [](const at::Tensor& x) -> int64_t {
    return x.numel();
  });
  m.def("decayed(Tensor x) -> Tensor", +[](const at::Tensor& x) { return x.clone(); });
  m.def("nothing(Tensor x) -> ()", [](const at::Tensor&) {});
  auto triple = [](const at::Tensor& x) { return x * 3; };
  m.def("triple(Tensor x) -> Tensor", triple);
  const auto moved = [](at::Tensor x, std::optional<double> y) -> at::Tensor { return y ? x * *y : x; };
  m.def("moved(Tensor x, float? y=None) -> Tensor", std::move(moved));
  int64_t step = 3;
  m.def("captured(Tensor x) -> Tensor", [step](const at::Tensor& x) { return x + step; });
  m.def("pair(Tensor x) -> (Tensor, int)", [](const at::Tensor& x) { return std::make_tuple(x.clone(), int64_t{1}); });
}

TORCH_LIBRARY_IMPL(lambdas, Meta, m) {
  m.impl("double", [](const at::Tensor& x) {
    // braces, "quotes" and m.def("not_this(Tensor x) -> Tensor") inside
    if (x.dim() > 0) { return at::empty_like(x); }
    return x;
  });
}
