// op-lint truth: load
#include <torch/library.h>

namespace th = torch;
using torch::Library;

at::Tensor id(const at::Tensor& x) {
  return x;
}

void by_using(Library& m) {
  m.def("by_using(Tensor x) -> Tensor");
}

void by_alias(th::Library& m);

struct Registrar {
  const char* unused = nullptr;
  void operator()(torch::Library& m) const {
    m.def("by_call_operator(Tensor x) -> Tensor");
  }
  static void statically(torch::Library& m) {
    m.def("by_static_member(Tensor x) -> Tensor");
  }
  void member(torch::Library& m) {
    m.def("by_member(Tensor x) -> Tensor", &id);
  }
};

template <typename L>
void by_template(L& m) {
  m.def("by_template(Tensor x) -> Tensor");
}

torch::Library& passed_through(torch::Library& m) {
  m.def("passed_through(Tensor x) -> Tensor");
  return m;
}

void two_levels(torch::Library& m) {
  by_using(m);
}

TORCH_LIBRARY(ways, m) {
  two_levels(m);
  by_alias(m);
  Registrar()(m);
  Registrar::statically(m);
  Registrar().member(m);
  by_template(m);
  passed_through(m).def("after(Tensor x) -> Tensor");
  auto generic = [](auto& library) { library.def("by_generic_lambda(Tensor x) -> Tensor"); };
  generic(m);
}

void by_alias(th::Library& m) {
  m.def("by_alias(Tensor x) -> Tensor");
}
