// op-lint truth: load
#include <torch/library.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace runtime {

// A registry of its own whose methods are called as torch's are.
class Library {
 public:
  Library& def(const std::string& name, std::function<int(int)> function = nullptr) {
    table[name] = std::move(function);
    return *this;
  }
  Library& impl(const std::string& name, int key, std::function<int(int)> function) {
    return def(name + std::to_string(key), std::move(function));
  }
  Library& fallback(std::function<int(int)> function) {
    return def("*", std::move(function));
  }
  std::map<std::string, std::function<int(int)>> table;
};

static Library build() {
  Library m;
  m.def("twice(Tensor x) -> Tensor", [](int x) { return 2 * x; });
  m.impl("twice", 3, [](int x) { return x; });
  m.fallback([](int x) { return x; });
  return m;
}

struct RegisterOperators {
  RegisterOperators& op(const std::string&, int (*)(int)) {
    return *this;
  }
};

static int same(int x) {
  return x;
}

static auto operators = RegisterOperators().op("runtime::same", &same);

} // namespace runtime

#define TEST(suite, name) static void suite##_##name()
#define LIBRARY_TORCH(name, m) static void not_##name(runtime::Library& m)

struct Impl {
  at::Tensor impl(const char*, const at::Tensor& x) const {
    return x;
  }
};

struct Facade {
  std::unique_ptr<Impl> self = std::make_unique<Impl>();
  at::Tensor run(const at::Tensor& x) const {
    return self->impl("run(Tensor x) -> Tensor", x);
  }
};

TEST(Unrelated, builds) {
  (void)runtime::build();
}

LIBRARY_TORCH(unrelated, m) {
  m.def("not_registered(Tensor x) -> Tensor");
}

TORCH_LIBRARY(unrelated, m) {
  runtime::Library inner;
  inner.def("inner(Tensor x) -> Tensor");
  m.def("real(Tensor x) -> Tensor", [](const at::Tensor& x) { return Facade().run(x); });
}
