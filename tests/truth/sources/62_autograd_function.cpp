// op-lint truth: load
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

at::Tensor squared(const at::Tensor& x) {
  static auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("differentiable::square", "").typed<decltype(squared)>();
  return op.call(x);
}

class Square : public torch::autograd::Function<Square> {
 public:
  static Variable forward(AutogradContext* ctx, const Variable& x) {
    at::AutoDispatchBelowADInplaceOrView guard;
    ctx->save_for_backward({x});
    return squared(x);
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    return {gradients[0] * 2 * ctx->get_saved_variables()[0]};
  }
};

at::Tensor squared_autograd(const at::Tensor& x) {
  return Square::apply(x);
}

at::Tensor squared_autocast(const at::Tensor& x) {
  c10::impl::ExcludeDispatchKeyGuard guard(c10::DispatchKey::Autocast);
  return squared(x.to(at::kFloat));
}

TORCH_LIBRARY(differentiable, m) {
  m.def("square(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(differentiable, CPU, m) {
  m.impl("square", [](const at::Tensor& x) { return x * x; });
}

TORCH_LIBRARY_IMPL(differentiable, Autograd, m) {
  m.impl("square", squared_autograd);
  m.impl("square", torch::dispatch(c10::DispatchKey::Autograd, [](const at::Tensor& x) -> at::Tensor {
           return Square::apply(x);
         }));
}

TORCH_LIBRARY_IMPL(differentiable, AutocastCPU, m) {
  m.impl("square", squared_autocast);
}
