// op-lint truth: load
#include <torch/library.h>

#define ENUM_OP(name, function) "enum_" #name "() -> int", function
#define NAMED(function) #function, &function
#define BOTH(schema, function) schema " -> Tensor", TORCH_FN(function)

int64_t first_value() {
  return 1;
}

at::Tensor crop(const at::Tensor& x, int64_t size) {
  return x.narrow(0, 0, size);
}

TORCH_LIBRARY(twoargs, m) {
  m.def(ENUM_OP(first, &first_value));
  m.def(BOTH("crop_all(Tensor x, int size)", crop));
  m.def("crop(Tensor x, int size) -> Tensor");
}

TORCH_LIBRARY_IMPL(twoargs, CPU, m) {
  m.impl(NAMED(crop));
}
