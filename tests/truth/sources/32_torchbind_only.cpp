// op-lint truth: load
#include <torch/custom_class.h>
#include <torch/library.h>

struct Counter : torch::CustomClassHolder {
  int64_t value = 0;
  void add(int64_t n) {
    value += n;
  }
};

static auto registry = torch::class_<Counter>("torchbind_only", "Counter")
                           .def(torch::init<>())
                           .def("add", &Counter::add)
                           .def("value", [](const c10::intrusive_ptr<Counter>& self) { return self->value; });

struct Gauge : torch::CustomClassHolder {
  double level = 0;
  double read() {
    return level;
  }
};

TORCH_LIBRARY(torchbind_only, m) {
  auto gauge = m.class_<Gauge>("Gauge");
  gauge.def(torch::init<>());
  gauge.def("read", &Gauge::read, "reads it", {});
  m.def("new_counter() -> __torch__.torch.classes.torchbind_only.Counter", []() {
    return c10::make_intrusive<Counter>();
  });
}
