// op-lint truth: load -DTORCH_EXTENSION_NAME=_beside
#include <torch/extension.h>

int64_t version() {
  return 7;
}

at::Tensor encode(const at::Tensor& x) {
  return x + 1;
}

struct Codec {
  explicit Codec(int64_t level) : level(level) {}
  int64_t level;
};

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() = "not a torch library";
  m.def("version", &version, "the version");
  m.def("encode(Tensor x) -> Tensor", &encode);
  m.def("lambda", [](int64_t n) { return n; }, py::arg("n") = 1);
  py::class_<Codec>(m, "Codec").def(py::init<int64_t>()).def_readonly("level", &Codec::level);
  auto sub = m.def_submodule("sub");
  sub.def("encode", &encode);
}

void init_more(py::module& m) {
  m.def("more", &version);
}

TORCH_LIBRARY(beside, m) {
  m.def("version() -> int", &version);
  m.def("encode(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(beside, CPU, m) {
  m.impl("encode", &encode);
}
