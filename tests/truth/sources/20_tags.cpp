// op-lint truth: load
#include <torch/library.h>

#include <vector>

static const std::vector<at::Tag> kShared = {at::Tag::pt2_compliant_tag};

at::Tensor roll(const at::Tensor& x) {
  return x.roll(1);
}

TORCH_LIBRARY(tagged, m) {
  const std::vector<at::Tag> local{at::Tag::needs_fixed_stride_order, at::Tag::pt2_compliant_tag};
  m.def("one(Tensor x) -> Tensor", {at::Tag::pt2_compliant_tag});
  m.def("two(Tensor x) -> Tensor", {at::Tag::pt2_compliant_tag, at::Tag::needs_exact_strides});
  m.def("local(Tensor x) -> Tensor", local);
  m.def("shared(Tensor x) -> Tensor", kShared);
  m.def("kernel(Tensor x) -> Tensor", &roll, {at::Tag::core});
  m.def("verified(Tensor x) -> Tensor", {at::Tag::flexible_layout}, torch::_RegisterOrVerify::REGISTER);
  m.def(TORCH_SELECTIVE_SCHEMA("tagged::selective(Tensor x) -> Tensor"), {at::Tag::nondeterministic_seeded});
}
