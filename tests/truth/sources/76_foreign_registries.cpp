// op-lint truth: load
#include <torch/library.h>

#include <string>

// Registries of other projects, as their headers look.
namespace boost_like {
template <typename T>
struct class_ {
  explicit class_(const char*) {}
  template <typename F>
  class_& def(const char*, F) {
    return *this;
  }
};
template <typename F>
void def(const char*, F) {}
} // namespace boost_like

#define BOOST_LIKE_MODULE(name) static int init_##name()

namespace executor {
inline int register_kernel(const char*, at::Tensor (*)(const at::Tensor&)) {
  return 0;
}
} // namespace executor

#define EXECUTOR_LIBRARY(ns, name, function) \
  static const int registered_##ns##_##function = executor::register_kernel(#ns "::" name, function)

struct Fixture {
  struct Builder {
    Builder& def(const std::string&) {
      return *this;
    }
    Builder& impl(const std::string&, int) {
      return *this;
    }
  };
  Builder library() {
    return {};
  }
  void run();
};

#define TEST_F(fixture, name) void fixture::name()

struct Widget {
  int size() {
    return 1;
  }
};

at::Tensor identity(const at::Tensor& x) {
  return x;
}

BOOST_LIKE_MODULE(foreign) {
  using namespace boost_like;
  def("identity", &identity);
  class_<Widget>("Widget").def("size", &Widget::size);
  return 0;
}
static const int initialised = init_foreign();

EXECUTOR_LIBRARY(foreign, "identity.out", identity);

TEST_F(Fixture, run) {
  Builder m;
  m.def("identity(Tensor x) -> Tensor").impl("identity", 3);
  library().def("other(Tensor x) -> Tensor");
}

TORCH_LIBRARY(foreign, m) {
  m.def("identity(Tensor x) -> Tensor", &identity);
}
