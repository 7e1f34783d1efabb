// op-lint truth: load
#include <torch/custom_class.h>
#include <torch/library.h>

namespace queueing {

struct Queue : torch::CustomClassHolder {
  explicit Queue(int64_t capacity) : capacity(capacity) {}
  void push(const at::Tensor& x) {
    items.push_back(x);
  }
  at::Tensor pop() {
    auto last = items.back();
    items.pop_back();
    return last;
  }
  int64_t capacity;
  std::vector<at::Tensor> items;
};

at::Tensor front(const c10::intrusive_ptr<Queue>& queue) {
  return queue->items.front();
}

c10::intrusive_ptr<Queue> merge(const c10::intrusive_ptr<Queue>& a, c10::intrusive_ptr<Queue> b) {
  return a ? a : b;
}

TORCH_LIBRARY(queueing, m) {
  m.class_<Queue>("Queue")
      .def(torch::init<int64_t>())
      .def("push", &Queue::push)
      .def("pop", [](const c10::intrusive_ptr<Queue>& self) { return self->pop(); })
      .def_pickle(
          [](const c10::intrusive_ptr<Queue>& self) -> int64_t { return self->capacity; },
          [](int64_t capacity) { return c10::make_intrusive<Queue>(capacity); });
  m.def("front(__torch__.torch.classes.queueing.Queue queue) -> Tensor", &front);
  m.def(
      "merge(__torch__.torch.classes.queueing.Queue a, __torch__.torch.classes.queueing.Queue b) -> "
      "__torch__.torch.classes.queueing.Queue");
}

TORCH_LIBRARY_IMPL(queueing, CompositeExplicitAutograd, m) {
  m.impl("merge", merge);
}

} // namespace queueing
