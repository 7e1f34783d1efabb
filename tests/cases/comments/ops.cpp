#include <torch/library.h>

// The words op-lint: ignore[OPL206] inside a sentence are no comment to op-lint, nor is this string:
const char* text = "// op-lint: ignore[OPL206]";
const char* raw = R"(
// op-lint: ignore[OPL206]
)";

TORCH_LIBRARY(demo, m) {
  m.def("other::a(Tensor x) -> Tensor");  // expect: OPL206
  m.def("other::b(Tensor x) -> Tensor");  // op-lint: ignore[OPL206] the end of its own line
  // op-lint: ignore[namespace-mismatch] the line below, by name
  m.def("other::c(Tensor x) -> Tensor");
  /* op-lint: ignore */
  m.def("other::d(Tensor x) -> Tensor");
  // op-lint: ignore[OPL206] the call starts here, the string stands on the next line
  m.def(
      "other::e(Tensor x) -> Tensor");
  // op-lint: ignore[OPL2] a prefix

  // and another comment in between
  m.def("other::f(Tensor x) -> Tensor");
}

TORCH_LIBRARY_FRAGMENT(demo, m) {
  m.def("g(Tensor x) -> Tensor");  // op-lint: ignore[OPL206]
  //                               ^^^^^^^^^^^^^^^^^^^^^^^^^^ OPL901
  m.def("other::h(Tensor x) -> Tensor");  // op-lint: ignore[OPL206, OPL202]
  //                                                                 ^^^^^^ OPL901
  m.def("i(Tensor x) -> Tensor");  // op-lint: ignore[namespace-mismatched]
  //                                                  ^^^^^^^^^^^^^^^^^^^^ OPL901
  m.def("j(Tensor x) -> Tensor");  // op-lint: ignored[OPL206]
  //                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^ OPL901
  m.def("k(Tensor x) -> Tensor");  // op-lint: ignore[]
  //                               ^^^^^^^^^^^^^^^^^^^^ OPL901
}
