// op-lint truth: load
#include <torch/library.h>

at::Tensor f(const at::Tensor& x) {
  return x;
}

TORCH_LIBRARY(rare, m) {
  m.def("a(Tensor x) -> Tensor");
  m.def("b(Tensor x) -> Tensor");
  m.impl("a", &f);  // no key in a def block
}

TORCH_LIBRARY_IMPL(rare, CatchAll, m) {  // the old name of CompositeImplicitAutograd
  m.impl("b", &f);
}

TORCH_LIBRARY_IMPL(rare, SparseCsrCPU, m) {
  m.impl("b", &f);
}

TORCH_LIBRARY_IMPL(rare, Autocast, m) {
  m.impl("b", &f);
}

TORCH_LIBRARY_IMPL(rare, FuncTorchBatched, m) {
  m.impl("b", &f);
}

TORCH_LIBRARY_IMPL(rare, CompositeExplicitAutogradNonFunctional, m) {
  m.impl("b", &f);
}

TORCH_LIBRARY_IMPL(rare, ADInplaceOrView, m) {
  m.impl("b", torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(rare, AutogradNestedTensor, m) {
  m.impl("b", &f);
}
