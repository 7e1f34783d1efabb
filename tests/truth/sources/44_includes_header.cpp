// op-lint truth: load
#include "43_header_with_registrations.h"

at::Tensor rehash(const at::Tensor& x, int64_t seed) {
  return shared::hash(shared::hash(x, seed), seed);
}

TORCH_LIBRARY_FRAGMENT(shared, m) {
  m.def("rehash(Tensor x, int seed) -> Tensor");
}

SHARED_IMPL(CPU, "rehash", rehash)
SHARED_IMPL(Meta, "hash", rehash)
