// op-lint truth: load
#include <ATen/ATen.h>
#include <ATen/core/op_registration/op_registration.h>
#include <torch/library.h>

at::Tensor dense(const at::Tensor& x, const at::Tensor& w) {
  return x.matmul(w);
}

at::Tensor bucket(const at::Tensor& x) {
  return x;
}

void stacked(const c10::OperatorHandle&, c10::Stack*) {}

class Functor final : public c10::OperatorKernel {
 public:
  at::Tensor operator()(const at::Tensor& x, int64_t n) {
    return x + n;
  }
};

static auto registry =
    torch::RegisterOperators()
        .op(torch::RegisterOperators::options()
                .schema("options::dense(Tensor x, Tensor w) -> Tensor")
                .kernel<decltype(dense), &dense>(c10::DispatchKey::CPU)
                .kernel<decltype(dense), dense>(c10::DispatchKey::CUDA))
        .op("options::bucket(Tensor x) -> Tensor",
            torch::RegisterOperators::options()
                .catchAllKernel<decltype(bucket), &bucket>()
                .aliasAnalysis(c10::AliasAnalysisKind::PURE_FUNCTION))
        .op("options::functor", c10::RegisterOperators::options().kernel<Functor>(c10::DispatchKey::CPU))
        .op(c10::RegisterOperators::options()
                .schema("options::lambda(Tensor x) -> Tensor")
                .kernel(c10::DispatchKey::Meta, [](const at::Tensor& x) -> at::Tensor { return x; }))
        .op("options::pointer(Tensor x) -> Tensor",
            c10::RegisterOperators::options().kernel(c10::DispatchKey::CPU, &bucket))
        .op(c10::RegisterOperators::options()
                .schema("options::boxed(Tensor x) -> Tensor")
                .kernel<&stacked>(c10::DispatchKey::CPU));
