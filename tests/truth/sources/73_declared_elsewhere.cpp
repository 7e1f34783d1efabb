// op-lint truth: read
#include <torch/library.h>

// Declared here, defined in another file: compiles, and links only with that file.
namespace elsewhere {
at::Tensor far(const at::Tensor& x, int64_t n);
at::Tensor& far_out(const at::Tensor&, int64_t, at::Tensor&);
struct Kernels {
  static std::tuple<at::Tensor, at::Tensor> both(const at::Tensor& x);
};
} // namespace elsewhere

TORCH_LIBRARY(elsewhere, m) {
  m.def("far(Tensor x, int n) -> Tensor", &elsewhere::far);
  m.def("far.out(Tensor x, int n, *, Tensor(a!) out) -> Tensor(a!)", &elsewhere::far_out);
  m.def("both(Tensor x) -> (Tensor, Tensor)", &elsewhere::Kernels::both);
}
