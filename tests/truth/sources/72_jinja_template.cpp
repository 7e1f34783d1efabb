// op-lint truth: text
#include <torch/library.h>

{%- for name in names %}
at::Tensor {{ name }}_kernel(const at::Tensor& x);
{%- endfor %}

TORCH_LIBRARY_FRAGMENT(templated, m) {
  {%- if with_{{ kind }} %}
  m.def("{{ name }}(Tensor x{% if weighted %}, Tensor w{% endif %}) -> Tensor");
  {%- endif %}
}
