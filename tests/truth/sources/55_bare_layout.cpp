// op-lint truth: load
#include <torch/library.h>
at::Tensor one(const at::Tensor& x) { return x; }
TORCH_LIBRARY(layout,m){m.def("one(Tensor x) -> Tensor");m.def("two(Tensor x) -> Tensor");}
TORCH_LIBRARY_IMPL(layout,CPU,m){m.impl("one",&one);} TORCH_LIBRARY_IMPL(layout,Meta,m){m.impl("one",&one);}
TORCH_LIBRARY_IMPL(
    layout,
    CUDA,
    m)
{
  m
      .impl("one",
            &one);
  m.
    impl
      ( "two" ,
        & one ) ;
}
TORCH_LIBRARY_FRAGMENT(layout, m)
{
  { m.def("three(Tensor x) -> Tensor"); }
  ;;
  (m).def("four(Tensor x) -> Tensor");
}
T\
ORCH_LIBRARY_IMPL(layout, XPU, m) { m.im\
pl("two", &one); }
