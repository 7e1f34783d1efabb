// op-lint truth: load
#include <torch/library.h>

at::Tensor id(const at::Tensor& x) {
  return x;
}

static torch::Library& define_more(torch::Library& m) {
  return m.def("returned(Tensor x) -> Tensor");
}

TORCH_LIBRARY(forms, m) {
  (void)m.def("cast(Tensor x) -> Tensor");
  m.def("comma(Tensor x) -> Tensor"), m.def("comma_too(Tensor x) -> Tensor");
  auto& kept = m.def("kept(Tensor x) -> Tensor");
  kept.def("from_kept(Tensor x) -> Tensor");
  define_more(m);
  {
    using namespace torch;
    m.def("scoped(Tensor x) -> Tensor", dispatch(c10::DispatchKey::CPU, &id));
  }
  do {
    m.def("done_once(Tensor x) -> Tensor");
  } while (false);
  for (int i = 0; i < 1; ++i)
    m.def("in_loop(Tensor x) -> Tensor");
  switch (sizeof(void*)) {
    case 8:
      m.def("in_switch(Tensor x) -> Tensor");
      break;
    default:
      break;
  }
  static const bool once = [&m] {
    m.def("in_lambda(Tensor x) -> Tensor");
    return true;
  }();
  (void)once;
label:
  m.def("labelled(Tensor x) -> Tensor");
}
