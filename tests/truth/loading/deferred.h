// The registration macros of torch with the one difference that a block runs when `run_row` says so and not when the
// library is loaded. What runs is torch's own `Library`, so it refuses what it would refuse at load time; but many
// sources ("rows") fit into one library, and an error is an exception that can be looked at.
//
// A row is compiled inside a namespace of its own with a constant `ROW`.
#pragma once

#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

#include <torch/csrc/stable/library.h>
#include <torch/library.h>

namespace torch {
using c10::kCPU;
using c10::kCUDA;
using c10::kHIP;
using c10::kMeta;
} // namespace torch

using StableLibrary = torch::stable::detail::StableLibrary;

inline std::vector<std::pair<int, std::function<void()>>>& blocks() {
  static std::vector<std::pair<int, std::function<void()>>> all;
  return all;
}

struct Deferred {
  Deferred(int row, std::function<void()> run) {
    blocks().emplace_back(row, std::move(run));
  }

  Deferred(
      int row,
      torch::Library::Kind kind,
      void (*body)(torch::Library&),
      const char* ns,
      std::optional<c10::DispatchKey> key,
      int line)
      : Deferred(row, [=] { body(*new torch::Library(kind, ns, key, "ops.cpp", line)); }) {}

  Deferred(int row, StableLibrary::Kind kind, void (*body)(StableLibrary&), const char* ns, const char* key, int line)
      : Deferred(row, [=] { body(*new StableLibrary(kind, ns, key, "ops.cpp", line)); }) {}
};

// Runs the blocks of a row in their order; 0, or 1 with the error's text on stdout.
extern "C" int run_row(int row) {
  for (auto& block : blocks()) {
    if (block.first != row) {
      continue;
    }
    try {
      block.second();
    } catch (const c10::Error& error) {
      std::printf("%s\n", error.what_without_backtrace());
      std::fflush(stdout);
      return 1;
    } catch (const std::exception& error) {
      std::printf("%s\n", error.what());
      std::fflush(stdout);
      return 1;
    }
  }
  return 0;
}

// The same, where an error ends the process as it does while a library is loaded.
extern "C" void load_row(int row) noexcept {
  for (auto& block : blocks()) {
    if (block.first == row) {
      block.second();
    }
  }
}

#undef TORCH_LIBRARY
#undef TORCH_LIBRARY_FRAGMENT
#undef TORCH_LIBRARY_IMPL
#undef STABLE_TORCH_LIBRARY
#undef STABLE_TORCH_LIBRARY_FRAGMENT
#undef STABLE_TORCH_LIBRARY_IMPL

#define DEFERRED(type, kind, ns, key, m, uid)                                                              \
  static void C10_CONCATENATE(body_, uid)(type&);                                                          \
  static const Deferred C10_CONCATENATE(deferred_, uid)(                                                   \
      ROW, type::kind, &C10_CONCATENATE(body_, uid), C10_STRINGIZE(ns), key, __LINE__);                     \
  static void C10_CONCATENATE(body_, uid)(type & m)

#define TORCH_LIBRARY(ns, m) DEFERRED(torch::Library, DEF, ns, std::nullopt, m, C10_UID)
#define TORCH_LIBRARY_FRAGMENT(ns, m) DEFERRED(torch::Library, FRAGMENT, ns, std::nullopt, m, C10_UID)
#define TORCH_LIBRARY_IMPL(ns, k, m) DEFERRED(torch::Library, IMPL, ns, c10::DispatchKey::k, m, C10_UID)

#define STABLE_TORCH_LIBRARY(ns, m) DEFERRED(StableLibrary, Kind::DEF, ns, (const char*)nullptr, m, C10_UID)
#define STABLE_TORCH_LIBRARY_FRAGMENT(ns, m) DEFERRED(StableLibrary, Kind::FRAGMENT, ns, (const char*)nullptr, m, C10_UID)
#define STABLE_TORCH_LIBRARY_IMPL(ns, k, m) DEFERRED(StableLibrary, Kind::IMPL, ns, C10_STRINGIZE(k), m, C10_UID)

// What the sources of the rows use.
static at::Tensor f(const at::Tensor& x) {
  return x;
}
static at::Tensor g(const at::Tensor& x) {
  return x;
}
static void boxed(const c10::OperatorHandle&, torch::jit::Stack*) {}
static void stable(StableIValue*, uint64_t, uint64_t) {}
struct Held : torch::CustomClassHolder {};
