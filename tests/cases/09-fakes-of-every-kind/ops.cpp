#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor f_cpu(const at::Tensor& x) { return x.clone(); }
at::Tensor f_meta(const at::Tensor& x) { return at::empty_like(x); }
void g_cpu(at::Tensor& out, const at::Tensor& x) { out.copy_(x); }
int64_t count_cpu(const at::Tensor& x) { return x.numel(); }
int64_t version() { return 1; }

TORCH_LIBRARY(demo, m) {
  m.def("nothing(Tensor x) -> Tensor");  // expect: OPL302
  m.def("returns_int(Tensor x) -> int");  // expect: OPL302
  m.def("meta(Tensor x) -> Tensor");
  m.def("in_python(Tensor x) -> Tensor");
  m.def("meta_in_python(Tensor x) -> Tensor");
  m.def("composite(Tensor x) -> Tensor", &f_cpu);
  m.def("explicit_too(Tensor x) -> Tensor");
  m.def("writes(Tensor! out, Tensor x) -> ()");
  m.def("version() -> int");
  m.def("to.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
}

TORCH_LIBRARY_IMPL(demo, CPU, m) {
  m.impl("nothing", &f_cpu);
  m.impl("returns_int", &count_cpu);
  m.impl("meta", &f_cpu);
  m.impl("in_python", &f_cpu);
  m.impl("meta_in_python", &f_cpu);
  m.impl("writes", &g_cpu);
}

TORCH_LIBRARY_IMPL(demo, Meta, m) {
  m.impl("meta", &f_meta);
}

TORCH_LIBRARY_IMPL(demo, CompositeExplicitAutograd, m) {
  m.impl("explicit_too", &f_cpu);
}

TORCH_LIBRARY_IMPL(demo, CatchAll, m) {
  m.impl("version", &version);
}
