// The schemas of pairwise, and what is made of other operators.
#include <Python.h>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/mean.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

// Python finds the library by this function: `import pairwise._C` loads it, and loading registers.
extern "C" PyObject* PyInit__C(void) {
  static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_C", nullptr, -1, nullptr};
  return PyModule_Create(&module);
}

namespace pairwise {

at::Tensor mean_distance(const at::Tensor& x, const at::Tensor& y) {
  // Through the dispatcher, so that autograd, vmap and autocast have their turn.
  static auto distance = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("pairwise::distance", "")
                             .typed<at::Tensor(const at::Tensor&, const at::Tensor&, double)>();
  return distance.call(x, y, 2.0).mean();
}

}  // namespace pairwise

TORCH_LIBRARY(pairwise, m) {
  m.set_python_module("pairwise.gradients");
  m.def("distance(Tensor x, Tensor y, float p=2.0) -> Tensor", {at::Tag::pt2_compliant_tag});
  m.def("distance_backward(Tensor grad, Tensor x, Tensor y, float p) -> (Tensor, Tensor)");
  m.def("clip_norms_(Tensor(a!) x, float limit) -> ()");
  m.def("mean_distance(Tensor x, Tensor y) -> Tensor", &pairwise::mean_distance);
}

// The backward has no formula of its own: say so, instead of gradients that stop without a word.
TORCH_LIBRARY_IMPL(pairwise, Autograd, m) {
  m.impl("distance_backward", torch::autograd::autogradNotImplementedFallback());
}
