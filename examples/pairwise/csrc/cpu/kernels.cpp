// The kernels for the CPU. They see plain tensors only: autograd, vmap and autocast are dealt with before.
#include <algorithm>
#include <cmath>

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

namespace pairwise {
namespace {

void check(const at::Tensor& x, const at::Tensor& y, double p) {
  TORCH_CHECK(x.dim() == 2 && y.dim() == 2, "distance: expected two matrices");
  TORCH_CHECK(x.size(1) == y.size(1), "distance: rows of ", x.size(1), " and ", y.size(1), " elements");
  TORCH_CHECK(x.scalar_type() == y.scalar_type(), "distance: ", x.scalar_type(), " and ", y.scalar_type());
  TORCH_CHECK(p >= 1 && std::isfinite(p), "distance: p = ", p, " is not a norm");
}

// Rows for one thread, so that each has some ten thousand differences to do.
int64_t grain(int64_t differences_of_a_row) {
  return std::max<int64_t>(1, 10000 / std::max<int64_t>(1, differences_of_a_row));
}

}  // namespace

at::Tensor distance(const at::Tensor& x, const at::Tensor& y, double p) {
  check(x, y, p);
  const at::Tensor from = x.contiguous(), to = y.contiguous();
  const int64_t rows = x.size(0), columns = y.size(0), width = x.size(1);
  at::Tensor result = at::empty({rows, columns}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "distance", [&] {
    const auto* a = from.const_data_ptr<scalar_t>();
    const auto* b = to.const_data_ptr<scalar_t>();
    auto* out = result.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, rows, grain(columns * width), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < width; ++k) {
            sum += std::pow(std::abs(a[i * width + k] - b[j * width + k]), p);
          }
          out[i * columns + j] = static_cast<scalar_t>(std::pow(sum, 1 / p));
        }
      }
    });
  });
  return result;
}

std::tuple<at::Tensor, at::Tensor> distance_backward(
    const at::Tensor& grad, const at::Tensor& x, const at::Tensor& y, double p) {
  check(x, y, p);
  const at::Tensor upstream = grad.contiguous(), from = x.contiguous(), to = y.contiguous();
  const at::Tensor norms = distance(from, to, p);
  const int64_t rows = x.size(0), columns = y.size(0), width = x.size(1);
  at::Tensor to_x = at::zeros_like(from), to_y = at::zeros_like(to);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "distance_backward", [&] {
    const auto* g = upstream.const_data_ptr<scalar_t>();
    const auto* d = norms.const_data_ptr<scalar_t>();
    const auto* a = from.const_data_ptr<scalar_t>();
    const auto* b = to.const_data_ptr<scalar_t>();
    auto* grad_a = to_x.mutable_data_ptr<scalar_t>();
    auto* grad_b = to_y.mutable_data_ptr<scalar_t>();
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        const double norm = d[i * columns + j];
        if (norm == 0) {
          continue;  // rows that are equal: zero is among the subgradients
        }
        for (int64_t k = 0; k < width; ++k) {
          const double difference = a[i * width + k] - b[j * width + k];
          const double slope = std::copysign(std::pow(std::abs(difference) / norm, p - 1), difference);
          const auto step = static_cast<scalar_t>(g[i * columns + j] * slope);
          grad_a[i * width + k] += step;
          grad_b[j * width + k] -= step;
        }
      }
    }
  });
  return {to_x, to_y};
}

void clip_norms_(at::Tensor& x, double limit) {
  TORCH_CHECK(limit > 0, "clip_norms_: the limit is ", limit);
  const at::Tensor norms = x.norm(2, {-1}, /*keepdim=*/true);
  x.mul_(norms.reciprocal().mul_(limit).clamp_max_(1));
}

at::Tensor count_within(const at::Tensor& distances, double limit) {
  return distances.le(limit).sum(-1);
}

}  // namespace pairwise

#define PAIRWISE_KERNEL(name) m.impl(#name, TORCH_FN(pairwise::name))

TORCH_LIBRARY_IMPL(pairwise, CPU, m) {
  PAIRWISE_KERNEL(distance);
  PAIRWISE_KERNEL(distance_backward);
  PAIRWISE_KERNEL(clip_norms_);
}

TORCH_LIBRARY_IMPL(pairwise, Meta, m) {
  m.impl("clip_norms_", [](at::Tensor& x, double limit) {});
}

// Written with operators of torch only, and nothing of it can be differentiated: one kernel for every backend.
TORCH_LIBRARY_FRAGMENT(pairwise, m) {
  m.def("count_within(Tensor distances, float limit) -> Tensor");
  m.impl("count_within", c10::DispatchKey::CompositeExplicitAutograd, &pairwise::count_within);
}
