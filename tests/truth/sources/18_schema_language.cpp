// op-lint truth: load
#include <torch/library.h>

TORCH_LIBRARY(language, m) {
  m.def("fill(Tensor! target, float value) -> ()");
  m.def("append(Tensor(k_new!)? cache, Tensor(v_new!) values, Tensor key) -> ()");
  m.def("scatter_(Tensor(a!) self, Tensor index) -> Tensor(a!)");
  m.def("views(Tensor(a) self, int[2] size, SymInt[3] stride=1) -> Tensor(a)[]");
  m.def("many(Tensor(a!)[] outputs, Tensor[] inputs, Tensor?[] masks) -> ()");
  m.def("unite(Tensor(a) x, Tensor(b) y) -> (Tensor(a) first, Tensor(b) second)");
  m.def("any(Tensor(a -> *) x) -> Tensor(*)[]");
  m.def("named(Tensor x) -> (Tensor values, Tensor indices)");
  m.def("single(Tensor x) -> (Tensor out)");
  m.def("none() -> ()");
  m.def(
      "defaults(Tensor x, int a=-1, float b=1e-6, bool c=False, str d='x', int[] e=[], int[2] f=[0, 1], "
      "Tensor? g=None, float[]? h=None, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None, MemoryFormat? memory_format=None, Generator? generator=None) -> Tensor");
  m.def("reduction(Tensor x, int reduction=Mean, int[] sizes=[1, 2]) -> Tensor");
  m.def("scalars(Scalar a, Scalar? b, SymInt c, Scalar[] d) -> (Scalar, SymInt, bool, str)");
  m.def("containers(Dict(str, Tensor) table, (int, float) pair, Tensor[][] nested, Stream s) -> Dict(str, Tensor)");
  m.def("out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("spaces ( Tensor  x ,int n = 2 )->Tensor");
}
