// op-lint truth: load
#include <ATen/ATen.h>
#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <torch/library.h>

#include <array>
#include <string>
#include <tuple>
#include <vector>

namespace zoo {

using Result = std::tuple<at::Tensor, std::vector<at::Tensor>, int64_t>;

Result lists(
    at::TensorList a,
    const std::vector<at::Tensor>& b,
    const c10::List<std::optional<at::Tensor>>& c,
    at::ITensorListRef d,
    at::ArrayRef<double> e,
    std::vector<int64_t> f,
    std::array<bool, 3> g,
    at::IntArrayRef h) {
  return {a[0], b, 0};
}

at::Tensor optionals(
    const std::optional<at::Tensor>& a,
    c10::optional<int64_t> b,
    std::optional<double> c,
    at::OptionalIntArrayRef d,
    std::optional<c10::string_view> e,
    std::optional<at::ArrayRef<double>> f,
    const std::optional<std::vector<int64_t>>& g,
    std::optional<bool> h) {
  return *a;
}

at::Tensor tensor_options(
    at::Tensor self,
    const at::Scalar& a,
    const std::optional<at::Scalar>& b,
    at::ScalarType c,
    std::optional<at::ScalarType> d,
    std::optional<at::Layout> e,
    std::optional<at::Device> f,
    std::optional<at::MemoryFormat> g,
    std::optional<at::Generator> h) {
  return self;
}

void strings(c10::string_view a, std::string b, const std::string& c, at::Tensor&& d) {}

c10::Dict<std::string, at::Tensor> dictionaries(
    const c10::Dict<std::string, at::Tensor>& a,
    c10::List<int64_t> b,
    const c10::List<at::Tensor>& c,
    c10::Dict<std::string, int64_t> d) {
  return a;
}

at::Tensor& out_variant(const at::Tensor& a, at::Tensor& out) {
  return out;
}

std::tuple<at::Tensor&, at::Tensor&> out_pair(const at::Tensor& a, at::Tensor& x, at::Tensor& y) {
  return {x, y};
}

} // namespace zoo

TORCH_LIBRARY(zoo, m) {
  m.def(
      "lists(Tensor[] a, Tensor[] b, Tensor?[] c, Tensor[] d, float[] e, int[] f, bool[3] g, int[2] h) -> "
      "(Tensor, Tensor[], int)",
      &zoo::lists);
  m.def(
      "optionals(Tensor? a, int? b, float? c, int[]? d, str? e, float[]? f, int[]? g, bool? h) -> Tensor",
      &zoo::optionals);
  m.def(
      "tensor_options(Tensor self, Scalar a, Scalar? b, ScalarType c, ScalarType? d, Layout? e, Device? f, "
      "MemoryFormat? g, Generator? h) -> Tensor",
      &zoo::tensor_options);
  m.def("strings(str a, str b, str c, Tensor d) -> ()", &zoo::strings);
  m.def(
      "dictionaries(Dict(str, Tensor) a, int[] b, Tensor[] c, Dict(str, int) d) -> Dict(str, Tensor)",
      &zoo::dictionaries);
  m.def("out_variant(Tensor a, *, Tensor(a!) out) -> Tensor(a!)", &zoo::out_variant);
  m.def(
      "out_pair(Tensor a, *, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))",
      &zoo::out_pair);
}
