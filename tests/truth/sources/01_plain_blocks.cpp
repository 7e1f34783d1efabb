// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/library.h>

namespace image {

at::Tensor blur(const at::Tensor& picture, int64_t radius) {
  return picture + radius;
}

static at::Tensor invert(const at::Tensor& picture) {
  return -picture;
}

namespace meta {
at::Tensor blur(const at::Tensor& picture, int64_t) {
  return at::empty_like(picture);
}
} // namespace meta
} // namespace image

at::Tensor threshold(const at::Tensor& picture, double limit) {
  return picture > limit;
}

TORCH_LIBRARY(image, m) {
  m.def("blur(Tensor picture, int radius) -> Tensor");
  m.def("invert(Tensor picture) -> Tensor");
  m.def("threshold(Tensor picture, float limit=0.5) -> Tensor", &threshold);
}

TORCH_LIBRARY_IMPL(image, CPU, m) {
  m.impl("blur", image::blur);
  m.impl("invert", &image::invert);
}

TORCH_LIBRARY_IMPL(image, Meta, m) {
  m.impl("blur", &image::meta::blur);
  m.impl("invert", ::image::invert);
}
