// Stand-ins for what registration code needs of <torch/library.h>, ATen, c10 and the standard library.
//
// Read before every C++ file, in place of all headers of PyTorch and of the system. Nothing here can run: it exists so that
// libclang gives the same syntax tree for a registration as it does with the real headers, in milliseconds.
// The names, namespaces and the structure that the registration macros expand to follow torch 2.13; what they are held
// against is tests/truth/test_real_headers.py. OP_LINT_EXTRA_KEYS names dispatch keys that a file uses and torch does
// not have (OP_LINT_EXTRA_TAGS likewise): `DispatchKey::Nope` would otherwise cost the whole statement.
#pragma once

#ifndef OP_LINT_EXTRA_KEYS
#define OP_LINT_EXTRA_KEYS
#endif
#ifndef OP_LINT_EXTRA_TAGS
#define OP_LINT_EXTRA_TAGS
#endif

// ---------------------------------------------------------------- the language's own types
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef unsigned long size_t;
typedef long ssize_t;
typedef long ptrdiff_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
#define NULL nullptr
#define assert(...) ((void)0)

namespace std {
using ::int8_t;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::uint8_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::size_t;
using ::ptrdiff_t;
using ::intptr_t;
using ::uintptr_t;
using nullptr_t = decltype(nullptr);

template <class T, T v> struct integral_constant { static constexpr T value = v; using type = integral_constant; };
template <bool b> using bool_constant = integral_constant<bool, b>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;
template <class T> struct remove_reference { using type = T; };
template <class T> struct remove_reference<T&> { using type = T; };
template <class T> struct remove_reference<T&&> { using type = T; };
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> struct remove_pointer { using type = T; };
template <class T> struct remove_pointer<T*> { using type = T; };
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> struct remove_cv { using type = T; };
template <class T> struct remove_cv<const T> { using type = T; };
template <class T> struct remove_cv<volatile T> { using type = T; };
template <class T> struct remove_cv<const volatile T> { using type = T; };
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> struct remove_const { using type = remove_cv_t<T>; };
template <class T> using remove_const_t = remove_cv_t<T>;
template <class T> using remove_cvref_t = remove_cv_t<remove_reference_t<T>>;
template <class T> struct decay { using type = remove_cvref_t<T>; };
template <class T> using decay_t = typename decay<T>::type;
template <class T> struct add_pointer { using type = remove_reference_t<T>*; };
template <class T> using add_pointer_t = typename add_pointer<T>::type;
template <bool b, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool b, class T = void> using enable_if_t = typename enable_if<b, T>::type;
template <bool b, class T, class F> struct conditional { using type = T; };
template <class T, class F> struct conditional<false, T, F> { using type = F; };
template <bool b, class T, class F> using conditional_t = typename conditional<b, T, F>::type;
template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> inline constexpr bool is_same_v = is_same<A, B>::value;
template <class F, class... A> struct invoke_result { using type = decltype(declval<F>()(declval<A>()...)); };
template <class...> using void_t = void;
template <class T> T&& declval() noexcept;
template <class T> constexpr remove_reference_t<T>&& move(T&&) noexcept;
template <class T> constexpr T&& forward(remove_reference_t<T>&) noexcept;
template <class T> constexpr T&& forward(remove_reference_t<T>&&) noexcept;

template <class T> struct initializer_list {
  const T* begin_;
  size_t size_;
  constexpr const T* begin() const;
  constexpr const T* end() const;
  constexpr size_t size() const;
};
template <class T> struct allocator {};
template <class C> struct char_traits {};
template <class T> struct default_delete {};
template <class T> struct hash {};
template <class T> struct less {};
template <class T> struct equal_to {};

struct nullopt_t { explicit constexpr nullopt_t(int) {} };
inline constexpr nullopt_t nullopt{0};
template <class T> struct optional {
  using value_type = T;
  constexpr optional();
  constexpr optional(nullopt_t);
  template <class U = T> constexpr optional(U&&);
  constexpr bool has_value() const;
  constexpr T& value();
  constexpr const T& value() const;
  template <class U> constexpr T value_or(U&&) const;
  constexpr T& operator*();
  constexpr const T& operator*() const;
  constexpr T* operator->();
  constexpr const T* operator->() const;
  constexpr explicit operator bool() const;
  void reset();
};
template <class T> constexpr optional<decay_t<T>> make_optional(T&&);
template <class T> constexpr optional<T> make_optional();

template <class C, class T = char_traits<C>> struct basic_string_view {
  constexpr basic_string_view();
  constexpr basic_string_view(const C*);
  constexpr basic_string_view(const C*, size_t);
  constexpr const C* data() const;
  constexpr size_t size() const;
  bool operator==(basic_string_view) const;
};
using string_view = basic_string_view<char>;
template <class C, class T = char_traits<C>, class A = allocator<C>> struct basic_string {
  basic_string();
  basic_string(const C*);
  basic_string(const C*, size_t);
  basic_string(basic_string_view<C>);
  const C* c_str() const;
  const C* data() const;
  size_t size() const;
  bool empty() const;
  basic_string& operator+=(const basic_string&);
  basic_string& append(const basic_string&);
  bool operator==(const basic_string&) const;
  operator basic_string_view<C>() const;
};
using string = basic_string<char>;
string operator+(const string&, const string&);
string operator+(const string&, const char*);
string operator+(const char*, const string&);
template <class T> string to_string(T);
inline namespace literals {
string operator""_s_op_lint(const char*, size_t);
}

template <class T, class A = allocator<T>> struct vector {
  using value_type = T;
  vector();
  explicit vector(size_t);
  vector(size_t, const T&);
  vector(initializer_list<T>);
  template <class I> vector(I, I);
  T& operator[](size_t);
  const T& operator[](size_t) const;
  T& at(size_t);
  T& front();
  T& back();
  T* begin();
  T* end();
  const T* begin() const;
  const T* end() const;
  T* data();
  const T* data() const;
  size_t size() const;
  bool empty() const;
  void push_back(const T&);
  template <class... U> T& emplace_back(U&&...);
  void reserve(size_t);
  void resize(size_t);
  void clear();
  template <class I> void insert(T*, I, I);
};
template <class T, size_t N> struct array {
  T elements[N];
  constexpr T& operator[](size_t);
  constexpr const T& operator[](size_t) const;
  constexpr T* begin();
  constexpr T* end();
  constexpr const T* begin() const;
  constexpr const T* end() const;
  constexpr size_t size() const;
  constexpr T* data();
};
template <class A, class B> struct pair {
  A first;
  B second;
  pair();
  template <class U, class V> pair(U&&, V&&);
};
template <class A, class B> pair<decay_t<A>, decay_t<B>> make_pair(A&&, B&&);
template <class... T> struct tuple {
  tuple();
  template <class... U> tuple(U&&...);
};
template <class... T> tuple<decay_t<T>...> make_tuple(T&&...);
template <class... T> tuple<T&...> tie(T&...);
template <size_t i, class T> struct tuple_element;
template <size_t i, class T> using tuple_element_t = typename tuple_element<i, T>::type;
template <size_t i, class... T> auto& get(tuple<T...>&);
template <class K, class V, class C = less<K>, class A = allocator<pair<const K, V>>> struct map {
  map();
  map(initializer_list<pair<const K, V>>);
  V& operator[](const K&);
  pair<const K, V>* begin();
  pair<const K, V>* end();
  pair<const K, V>* find(const K&);
};
template <class K, class V, class H = hash<K>, class E = equal_to<K>, class A = allocator<pair<const K, V>>>
struct unordered_map {
  unordered_map();
  unordered_map(initializer_list<pair<const K, V>>);
  V& operator[](const K&);
  V& at(const K&);
  const V& at(const K&) const;
  pair<const K, V>* begin();
  pair<const K, V>* end();
  pair<const K, V>* find(const K&);
};
template <class T, class C = less<T>, class A = allocator<T>> struct set { set(); set(initializer_list<T>); };
template <class T, class H = hash<T>, class E = equal_to<T>, class A = allocator<T>> struct unordered_set {
  unordered_set();
  unordered_set(initializer_list<T>);
};
template <class T, class D = default_delete<T>> struct unique_ptr {
  unique_ptr();
  unique_ptr(nullptr_t);
  template <class U> unique_ptr(unique_ptr<U>&&);
  T* get() const;
  T& operator*() const;
  T* operator->() const;
};
template <class T, class... A> unique_ptr<T> make_unique(A&&...);
template <class T> struct shared_ptr {
  shared_ptr();
  T* get() const;
  T& operator*() const;
  T* operator->() const;
};
template <class T, class... A> shared_ptr<T> make_shared(A&&...);
template <class F> struct function;
template <class R, class... A> struct function<R(A...)> {
  function();
  template <class F> function(F&&);
  R operator()(A...) const;
};
template <class... T> struct variant {};
template <class T> struct complex {};
template <class T> struct atomic { atomic(); atomic(T); };
struct mutex {};
struct once_flag {};
template <class T> struct lock_guard { explicit lock_guard(T&); };
struct exception { virtual const char* what() const; };
struct runtime_error : exception { runtime_error(const string&); };
struct ostream { template <class T> ostream& operator<<(const T&); };
struct stringstream : ostream { string str() const; };
using ostringstream = stringstream;
extern ostream cout, cerr;
template <class T> struct numeric_limits {
  static constexpr T max();
  static constexpr T min();
  static constexpr T lowest();
  static constexpr T infinity();
};
template <class T> constexpr const T& max(const T&, const T&);
template <class T> constexpr const T& min(const T&, const T&);
template <class I, class O> O copy(I, I, O);
template <size_t... i> struct index_sequence {};
char* getenv(const char*);
} // namespace std
using std::getenv;
template <class... A> int printf(const char*, A&&...);
template <class... A> int fprintf(A&&...);
void* memcpy(void*, const void*, size_t);
void* memset(void*, int, size_t);
int strcmp(const char*, const char*);

// ---------------------------------------------------------------- macros
#define C10_CONCATENATE_IMPL(s1, s2) s1##s2
#define C10_CONCATENATE(s1, s2) C10_CONCATENATE_IMPL(s1, s2)
#define C10_MACRO_EXPAND(...) __VA_ARGS__
#define C10_STRINGIZE_IMPL(x) #x
#define C10_STRINGIZE(x) C10_STRINGIZE_IMPL(x)
#define C10_UID __COUNTER__
#define C10_ANONYMOUS_VARIABLE(str) C10_CONCATENATE(str, C10_UID)
#define C10_API
#define C10_EXPORT
#define C10_IMPORT
#define C10_HIDDEN
#define C10_NODISCARD
#define C10_UNUSED
#define C10_USED
#define C10_RESTRICT __restrict
#define C10_NOINLINE
#define C10_ALWAYS_INLINE inline
#define C10_ALWAYS_INLINE_UNUSED inline
#define C10_HOST_DEVICE
#define C10_DEVICE
#define C10_HOST
#define C10_LAUNCH_BOUNDS_0
#define C10_LAUNCH_BOUNDS_1(...)
#define C10_LAUNCH_BOUNDS_2(...)
#define C10_CUDA_API
#define C10_CUDA_CHECK(...) ((void)(__VA_ARGS__))
#define C10_CUDA_KERNEL_LAUNCH_CHECK() ((void)0)
#define C10_LIKELY(x) (x)
#define C10_UNLIKELY(x) (x)
#define C10_DEFINE_REGISTRY(...)
#define C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED(...)
#define C10_DIAGNOSTIC_POP()
#define C10_CLANG_DIAGNOSTIC_PUSH()
#define C10_CLANG_DIAGNOSTIC_POP()
#define C10_CLANG_DIAGNOSTIC_IGNORE(...)
#define C10_ALWAYS_INLINE_ATTRIBUTE
#define TORCH_API
#define TORCH_CUDA_CPP_API
#define TORCH_CUDA_CU_API
#define TORCH_PYTHON_API
#define TORCH_XPU_API
#define CAFFE2_API
#define HIDDEN_NAMESPACE_BEGIN(...)
#define TORCH_CHECK(...) ((void)0)
#define TORCH_CHECK_EQ(...) ((void)0)
#define TORCH_CHECK_NE(...) ((void)0)
#define TORCH_CHECK_LE(...) ((void)0)
#define TORCH_CHECK_LT(...) ((void)0)
#define TORCH_CHECK_GE(...) ((void)0)
#define TORCH_CHECK_GT(...) ((void)0)
#define TORCH_CHECK_ARG(...) ((void)0)
#define TORCH_CHECK_INDEX(...) ((void)0)
#define TORCH_CHECK_VALUE(...) ((void)0)
#define TORCH_CHECK_TYPE(...) ((void)0)
#define TORCH_CHECK_NOT_IMPLEMENTED(...) ((void)0)
#define TORCH_CHECK_WITH(...) ((void)0)
#define STD_TORCH_CHECK(...) ((void)0)
#define TORCH_INTERNAL_ASSERT(...) ((void)0)
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) ((void)0)
#define TORCH_WARN(...) ((void)0)
#define TORCH_WARN_ONCE(...) ((void)0)
#define TORCH_WARN_DEPRECATION(...) ((void)0)
#define AT_ASSERT(...) ((void)0)
#define AT_ASSERTM(...) ((void)0)
#define AT_CHECK(...) ((void)0)
#define AT_ERROR(...) ((void)0)
#define AT_CUDA_CHECK(...) ((void)(__VA_ARGS__))
#define AT_WRAP(...) __VA_ARGS__
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...) [&] { __VA_ARGS__ }()
#define AT_DISPATCH_CASE(enum_type, ...) { using scalar_t = float; (void)sizeof(scalar_t); (__VA_ARGS__)(); }
#define AT_PRIVATE_CASE_TYPE_USING_HINT(...)
#define OP_LINT_DISPATCH(BODY) [&] { using scalar_t = float; (void)sizeof(scalar_t); return (BODY)(); }()
#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) OP_LINT_DISPATCH((__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) OP_LINT_DISPATCH((__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(A, TYPE, NAME, ...) OP_LINT_DISPATCH((__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(A, B, TYPE, NAME, ...) OP_LINT_DISPATCH((__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) OP_LINT_DISPATCH((__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(A, TYPE, NAME, ...) OP_LINT_DISPATCH((__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(A, B, TYPE, NAME, ...) OP_LINT_DISPATCH((__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND3(A, B, C, TYPE, NAME, ...) OP_LINT_DISPATCH((__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) OP_LINT_DISPATCH((__VA_ARGS__))
#define AT_DISPATCH_INDEX_TYPES(TYPE, NAME, ...) [&] { using index_t = int64_t; (void)sizeof(index_t); return (__VA_ARGS__)(); }()

// Words of CUDA, HIP and of compilers other than clang. A kernel launch's angle brackets are the CUDA mode's business.
#ifndef __CUDA__
#define __global__
#define __device__
#define __host__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#else
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__
#define __launch_bounds__(...)
#endif
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__
#define __host_device__
struct dim3 { unsigned x, y, z; constexpr dim3(unsigned = 1, unsigned = 1, unsigned = 1); };
struct uint3 { unsigned x, y, z; };
#ifdef __CUDA__
#define OP_LINT_VECTORS(T, N) \
  struct N##2 { T x, y; }; struct N##3 { T x, y, z; }; struct N##4 { T x, y, z, w; };
OP_LINT_VECTORS(char, char) OP_LINT_VECTORS(short, short) OP_LINT_VECTORS(int, int) OP_LINT_VECTORS(long, long)
OP_LINT_VECTORS(float, float) OP_LINT_VECTORS(double, double) OP_LINT_VECTORS(long long, longlong)
#undef OP_LINT_VECTORS
struct uint2 { unsigned x, y; }; struct uint4 { unsigned x, y, z, w; };
#endif
typedef struct CUstream_st* cudaStream_t;
typedef struct ihipStream_t* hipStream_t;
enum cudaError_t { cudaSuccess };
enum hipError_t { hipSuccess };
extern "C" int __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void* = nullptr);
extern "C" int __hipPushCallConfiguration(dim3, dim3, size_t = 0, hipStream_t = nullptr);
extern "C" int cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = nullptr);
extern "C" int hipConfigureCall(dim3, dim3, size_t = 0, hipStream_t = nullptr);

// ---------------------------------------------------------------- torch/headeronly
namespace c10 {
enum class ScalarType : int8_t {
  Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, ComplexDouble, Bool, QInt8, QUInt8,
  QInt32, BFloat16, QUInt4x2, QUInt2x4, Bits1x8, Bits2x4, Bits4x2, Bits8, Bits16, Float8_e5m2, Float8_e4m3fn,
  Float8_e5m2fnuz, Float8_e4m3fnuz, UInt16, UInt32, UInt64, Float8_e8m0fnu, Float4_e2m1fn_x2, Undefined, NumOptions
};
enum class Layout : int8_t { Strided, Sparse, SparseCsr, Mkldnn, SparseCsc, SparseBsr, SparseBsc, Jagged, NumOptions };
enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d, NumOptions };
} // namespace c10
namespace torch {
namespace headeronly {
using c10::Layout;
using c10::MemoryFormat;
using c10::ScalarType;
enum class DeviceType : int8_t {
  CPU, CUDA, MKLDNN, OPENGL, OPENCL, IDEEP, HIP, FPGA, MAIA, XLA, Vulkan, Metal, XPU, MPS, Meta, HPU, VE, Lazy, IPU, MTIA,
  PrivateUse1
};
constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;
constexpr DeviceType kHIP = DeviceType::HIP;
constexpr DeviceType kFPGA = DeviceType::FPGA;
constexpr DeviceType kMAIA = DeviceType::MAIA;
constexpr DeviceType kXLA = DeviceType::XLA;
constexpr DeviceType kMPS = DeviceType::MPS;
constexpr DeviceType kMeta = DeviceType::Meta;
constexpr DeviceType kVulkan = DeviceType::Vulkan;
constexpr DeviceType kMetal = DeviceType::Metal;
constexpr DeviceType kXPU = DeviceType::XPU;
constexpr DeviceType kHPU = DeviceType::HPU;
constexpr DeviceType kVE = DeviceType::VE;
constexpr DeviceType kLazy = DeviceType::Lazy;
constexpr DeviceType kIPU = DeviceType::IPU;
constexpr DeviceType kMTIA = DeviceType::MTIA;
constexpr DeviceType kPrivateUse1 = DeviceType::PrivateUse1;
template <class T> struct HeaderOnlyArrayRef {
  constexpr HeaderOnlyArrayRef();
  constexpr HeaderOnlyArrayRef(const T&);
  constexpr HeaderOnlyArrayRef(const T*, size_t);
  HeaderOnlyArrayRef(const std::vector<T>&);
  constexpr HeaderOnlyArrayRef(const std::initializer_list<T>&);
  const T& operator[](size_t) const;
  const T* begin() const;
  const T* end() const;
  size_t size() const;
  bool empty() const;
  const T* data() const;
  std::vector<T> vec() const;
};
using IntHeaderOnlyArrayRef = HeaderOnlyArrayRef<int64_t>;
} // namespace headeronly
} // namespace torch

// ---------------------------------------------------------------- c10
namespace c10 {
using torch::headeronly::DeviceType;
using torch::headeronly::kCPU;
using torch::headeronly::kCUDA;
using torch::headeronly::kHIP;
using torch::headeronly::kFPGA;
using torch::headeronly::kMAIA;
using torch::headeronly::kXLA;
using torch::headeronly::kMPS;
using torch::headeronly::kMeta;
using torch::headeronly::kVulkan;
using torch::headeronly::kMetal;
using torch::headeronly::kXPU;
using torch::headeronly::kHPU;
using torch::headeronly::kVE;
using torch::headeronly::kLazy;
using torch::headeronly::kIPU;
using torch::headeronly::kMTIA;
using torch::headeronly::kPrivateUse1;
#define OP_LINT_TYPE(name) constexpr ScalarType k##name = ScalarType::name;
OP_LINT_TYPE(Byte)
OP_LINT_TYPE(Char)
OP_LINT_TYPE(Short)
OP_LINT_TYPE(Int)
OP_LINT_TYPE(Long)
OP_LINT_TYPE(Half)
OP_LINT_TYPE(Float)
OP_LINT_TYPE(Double)
OP_LINT_TYPE(Bool)
OP_LINT_TYPE(BFloat16)
OP_LINT_TYPE(QInt8)
OP_LINT_TYPE(QUInt8)
OP_LINT_TYPE(QInt32)
OP_LINT_TYPE(UInt16)
OP_LINT_TYPE(UInt32)
OP_LINT_TYPE(UInt64)
OP_LINT_TYPE(ComplexFloat)
OP_LINT_TYPE(ComplexDouble)
OP_LINT_TYPE(Float8_e4m3fn)
OP_LINT_TYPE(Float8_e5m2)
OP_LINT_TYPE(Float8_e4m3fnuz)
OP_LINT_TYPE(Float8_e5m2fnuz)
OP_LINT_TYPE(Float8_e8m0fnu)
constexpr Layout kStrided = Layout::Strided;
constexpr Layout kSparse = Layout::Sparse;
constexpr Layout kSparseCsr = Layout::SparseCsr;
constexpr Layout kMkldnn = Layout::Mkldnn;

#define OP_LINT_BACKENDS(_, prefix)                                                                                  \
  _(prefix##CPU) _(prefix##CUDA) _(prefix##HIP) _(prefix##XLA) _(prefix##MPS) _(prefix##IPU) _(prefix##XPU)          \
  _(prefix##HPU) _(prefix##VE) _(prefix##Lazy) _(prefix##MTIA) _(prefix##MAIA) _(prefix##PrivateUse1)                \
  _(prefix##PrivateUse2) _(prefix##PrivateUse3) _(prefix##Meta)
#define OP_LINT_KEY(name) name,
enum class DispatchKey : uint16_t {
  Undefined = 0,
  CatchAll = Undefined,
  Dense, FPGA, Vulkan, Metal, Quantized, CustomRNGKeyId, MkldnnCPU, Sparse, SparseCsr, NestedTensor, BackendSelect,
  Python, Fake, FuncTorchDynamicLayerBackMode, Functionalize, Named, Conjugate, Negative, ZeroTensor, ADInplaceOrView,
  AutogradOther, AutogradFunctionality, AutogradNestedTensor, Tracer, AutocastCPU, AutocastMTIA, AutocastMAIA,
  AutocastXPU, AutocastIPU, AutocastHPU, AutocastXLA, AutocastMPS, AutocastCUDA, AutocastPrivateUse1, FuncTorchBatched,
  BatchedNestedTensor, FuncTorchVmapMode, Batched, VmapMode, FuncTorchGradWrapper, DeferredInit, PythonTLSSnapshot,
  FuncTorchDynamicLayerFrontMode, TESTING_ONLY_GenericWrapper, TESTING_ONLY_GenericMode, PreDispatch, PythonDispatcher,
  FuncTorchBatchedDecomposition,
  EndOfFunctionalityKeys,
  OP_LINT_BACKENDS(OP_LINT_KEY, )
  OP_LINT_BACKENDS(OP_LINT_KEY, Quantized)
  OP_LINT_BACKENDS(OP_LINT_KEY, Sparse)
  OP_LINT_BACKENDS(OP_LINT_KEY, SparseCsr)
  OP_LINT_BACKENDS(OP_LINT_KEY, NestedTensor)
  OP_LINT_BACKENDS(OP_LINT_KEY, Autograd)
  Autograd, CompositeImplicitAutograd, FuncTorchBatchedDecompositionAlias_, CompositeImplicitAutogradNestedTensor,
  CompositeExplicitAutograd, CompositeExplicitAutogradNonFunctional,
  CPUTensorId = CPU,
  CUDATensorId = CUDA,
  DefaultBackend = CompositeExplicitAutograd,
  PrivateUse1_PreAutograd = AutogradPrivateUse1,
  PrivateUse2_PreAutograd = AutogradPrivateUse2,
  PrivateUse3_PreAutograd = AutogradPrivateUse3,
  Autocast = AutocastCUDA,
  OP_LINT_EXTRA_KEYS
};
struct DispatchKeySet {
  constexpr DispatchKeySet();
  constexpr DispatchKeySet(DispatchKey);
  DispatchKeySet operator&(DispatchKeySet) const;
  DispatchKeySet operator|(DispatchKeySet) const;
  bool has(DispatchKey) const;
};

template <class T> struct ArrayRef : torch::headeronly::HeaderOnlyArrayRef<T> {
  constexpr ArrayRef();
  constexpr ArrayRef(const T&);
  constexpr ArrayRef(const T*, size_t);
  ArrayRef(const std::vector<T>&);
  constexpr ArrayRef(const std::initializer_list<T>&);
  ArrayRef slice(size_t, size_t = 0) const;
};
template <class T> struct OptionalArrayRef {
  constexpr OptionalArrayRef();
  constexpr OptionalArrayRef(std::nullopt_t);
  template <class U> constexpr OptionalArrayRef(U&&);
  bool has_value() const;
  const ArrayRef<T>& value() const;
  const ArrayRef<T>& operator*() const;
  explicit operator bool() const;
};
struct SymInt { SymInt(); SymInt(int64_t); int64_t expect_int() const; int64_t guard_int(const char*, int64_t) const; };
struct SymFloat { SymFloat(double); };
struct SymBool { SymBool(bool); };
using IntArrayRef = ArrayRef<int64_t>;
using SymIntArrayRef = ArrayRef<SymInt>;
using OptionalIntArrayRef = OptionalArrayRef<int64_t>;
using OptionalSymIntArrayRef = OptionalArrayRef<SymInt>;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;
using std::string_view;
template <class T> struct complex { complex(T = 0, T = 0); };
struct Half { Half(float); operator float() const; };
struct BFloat16 { BFloat16(float); operator float() const; };
struct Float8_e4m3fn { Float8_e4m3fn(float); operator float() const; };
struct Float8_e5m2 { Float8_e5m2(float); operator float() const; };
struct Float8_e4m3fnuz { Float8_e4m3fnuz(float); operator float() const; };
struct Float8_e5m2fnuz { Float8_e5m2fnuz(float); operator float() const; };
struct qint8 {};
struct quint8 {};
struct qint32 {};
struct Scalar {
  Scalar();
  Scalar(double);
  Scalar(int64_t);
  Scalar(int);
  Scalar(bool);
  template <class T> T to() const;
  bool isFloatingPoint() const;
  bool isIntegral(bool) const;
};
using DeviceIndex = int8_t;
struct Device { Device(DeviceType, DeviceIndex = -1); DeviceType type() const; DeviceIndex index() const; bool is_cuda() const; };
struct Stream {};
struct Storage {};
struct StorageImpl {};
struct TensorImpl {};
struct GeneratorImpl {};
struct Allocator {};
struct DeviceGuard { explicit DeviceGuard(Device); };
struct OptionalDeviceGuard { template <class... A> explicit OptionalDeviceGuard(A&&...); };
struct InferenceMode { explicit InferenceMode(bool = true); };
struct QScheme_;
enum class QScheme : uint8_t { PER_TENSOR_AFFINE };
enum class AliasAnalysisKind : uint8_t { INTERNAL_SPECIAL_CASE, CONSERVATIVE, FROM_SCHEMA, PURE_FUNCTION };
struct TensorOptions {
  TensorOptions();
  template <class T> TensorOptions(T&&);
  TensorOptions dtype(ScalarType) const;
  template <class T> TensorOptions device(T&&) const;
  TensorOptions layout(Layout) const;
  TensorOptions requires_grad(bool) const;
  TensorOptions memory_format(MemoryFormat) const;
};
template <class T> struct intrusive_ptr {
  intrusive_ptr();
  T* get() const;
  T& operator*() const;
  T* operator->() const;
};
template <class T, class... A> intrusive_ptr<T> make_intrusive(A&&...);
template <class T> struct IListRef {};
template <class T> struct List {
  List();
  T get(size_t) const;
  T operator[](size_t) const;
  size_t size() const;
  void push_back(T);
};
template <class K, class V> struct Dict { Dict(); void insert(K, V); V at(const K&) const; };
struct IValue { IValue(); template <class T> IValue(T&&); template <class T> T to() const; };
using Stack = std::vector<IValue>;
namespace ivalue { struct Future; }
struct FunctionSchema {};
struct OperatorName { OperatorName(std::string, std::string); std::string name, overload_name; };
template <class F> struct TypedOperatorHandle {
  template <class... A> auto call(A&&...) const;
  template <class... A> auto redispatch(DispatchKeySet, A&&...) const;
};
struct OperatorHandle {
  const FunctionSchema& schema() const;
  template <class F> TypedOperatorHandle<F> typed() const;
  void callBoxed(Stack*) const;
  void callBoxed(Stack&) const;
  void redispatchBoxed(DispatchKeySet, Stack*) const;
};
struct Dispatcher {
  static Dispatcher& singleton();
  OperatorHandle findSchemaOrThrow(const char*, const char*) const;
  std::optional<OperatorHandle> findSchema(const OperatorName&) const;
};
struct OperatorKernel {};
struct BoxedKernel {
  static BoxedKernel makeFallthrough();
  template <auto f> static BoxedKernel makeFromFunction();
};
struct KernelFunction {
  template <class F> static KernelFunction makeFromUnboxedRuntimeFunction(F*);
  template <auto f> static KernelFunction makeFromBoxedFunction();
};
template <class FuncType_, FuncType_* func_ptr_> struct CompileTimeFunctionPointer {
  using FuncType = FuncType_;
  static constexpr FuncType* func_ptr() { return func_ptr_; }
};
template <class F, F* f> using CompileTimeFunctionPointer_ = CompileTimeFunctionPointer<F, f>;
namespace impl {
constexpr bool op_allowlist_check(const char*) { return true; }
constexpr bool schema_allowlist_check(const char*) { return true; }
constexpr bool custom_class_allowlist_check(const char*) { return true; }
constexpr bool dispatch_key_allowlist_check(DispatchKey) { return true; }
struct ExcludeDispatchKeyGuard { template <class... A> ExcludeDispatchKeyGuard(A&&...); };
struct IncludeDispatchKeyGuard { template <class... A> IncludeDispatchKeyGuard(A&&...); };
} // namespace impl

// The legacy API: ATen/core/op_registration/op_registration.h
class RegisterOperators {
 public:
  class Options {
   public:
    Options&& schema(const std::string&) &&;
    Options&& schema(FunctionSchema&&) &&;
    Options&& kernel(DispatchKey) &&;
    template <class Functor, class... A> Options&& kernel(DispatchKey, A&&...) &&;
    template <class FuncType, FuncType* f> Options&& kernel(DispatchKey) &&;
    template <class F> Options&& kernel(DispatchKey, F&&) &&;
    template <class Functor, class... A> Options&& catchAllKernel(A&&...) &&;
    template <class FuncType, FuncType* f> Options&& catchAllKernel() &&;
    template <class F> Options&& catchAllKernel(F&&) &&;
    Options&& catchAllKernel() &&;
    Options&& aliasAnalysis(AliasAnalysisKind) &&;
  };
  RegisterOperators();
  template <class F> explicit RegisterOperators(const std::string&, F&&, Options&& = RegisterOperators::options());
  static Options options();
  RegisterOperators&& op(Options&&) &&;
  RegisterOperators& op(Options&&) &;
  RegisterOperators&& op(const std::string&, Options&& = RegisterOperators::options()) &&;
  RegisterOperators&& op(FunctionSchema, Options&&) &&;
  template <class F> RegisterOperators&& op(const std::string&, F&&, Options&& = RegisterOperators::options()) &&;
  RegisterOperators& op(const std::string&, Options&& = RegisterOperators::options()) &;
  template <class F> RegisterOperators& op(const std::string&, F&&, Options&& = RegisterOperators::options()) &;
};
} // namespace c10

// ---------------------------------------------------------------- at
namespace at {
using namespace c10;
struct Generator { Generator(); };
struct Dimname {};
using DimnameList = c10::ArrayRef<Dimname>;
enum class Tag {
  core, cudagraph_unsafe, data_dependent_output, dynamic_output_shape, flexible_layout, generated, inplace, inplace_view,
  maybe_aliasing_or_mutating, needs_contiguous_strides, needs_exact_strides, needs_fixed_stride_order,
  nondeterministic_bitwise, nondeterministic_seeded, out, out_variant, pointwise, pt2_compliant_tag, reduction, view_copy,
  OP_LINT_EXTRA_TAGS
};
struct Tensor;
using TensorList = c10::ArrayRef<Tensor>;
struct TensorBase {};
struct Tensor : TensorBase {
  Tensor();
  int64_t dim() const;
  int64_t numel() const;
  int64_t size(int64_t) const;
  int64_t stride(int64_t) const;
  c10::IntArrayRef sizes() const;
  c10::IntArrayRef strides() const;
  c10::SymInt sym_size(int64_t) const;
  c10::SymIntArrayRef sym_sizes() const;
  c10::SymInt sym_numel() const;
  c10::ScalarType scalar_type() const;
  c10::Device device() const;
  c10::Layout layout() const;
  c10::TensorOptions options() const;
  bool defined() const;
  bool is_cuda() const;
  bool is_cpu() const;
  bool is_contiguous() const;
  bool requires_grad() const;
  int get_device() const;
  int64_t element_size() const;
  void* data_ptr() const;
  template <class T> T* data_ptr() const;
  template <class T> T* mutable_data_ptr() const;
  template <class T> const T* const_data_ptr() const;
  void* mutable_data_ptr() const;
  const void* const_data_ptr() const;
  template <class T> T item() const;
  Tensor operator[](int64_t) const;
  Tensor operator-() const;
#define OP_LINT_METHOD(name) template <class... A> Tensor name(A&&...) const;
  OP_LINT_METHOD(add) OP_LINT_METHOD(sub) OP_LINT_METHOD(mul) OP_LINT_METHOD(div) OP_LINT_METHOD(neg)
  OP_LINT_METHOD(clone) OP_LINT_METHOD(detach) OP_LINT_METHOD(contiguous) OP_LINT_METHOD(to) OP_LINT_METHOD(view)
  OP_LINT_METHOD(reshape) OP_LINT_METHOD(expand) OP_LINT_METHOD(transpose) OP_LINT_METHOD(permute) OP_LINT_METHOD(t)
  OP_LINT_METHOD(sum) OP_LINT_METHOD(select) OP_LINT_METHOD(slice) OP_LINT_METHOD(narrow) OP_LINT_METHOD(unsqueeze)
  OP_LINT_METHOD(squeeze) OP_LINT_METHOD(flatten) OP_LINT_METHOD(index) OP_LINT_METHOD(new_empty)
  OP_LINT_METHOD(new_zeros) OP_LINT_METHOD(new_empty_symint) OP_LINT_METHOD(type_as) OP_LINT_METHOD(cpu)
  OP_LINT_METHOD(cuda) OP_LINT_METHOD(alias) OP_LINT_METHOD(abs) OP_LINT_METHOD(exp) OP_LINT_METHOD(sigmoid)
  OP_LINT_METHOD(relu) OP_LINT_METHOD(norm) OP_LINT_METHOD(mean) OP_LINT_METHOD(sqrt) OP_LINT_METHOD(tanh) OP_LINT_METHOD(log)
  OP_LINT_METHOD(max) OP_LINT_METHOD(min) OP_LINT_METHOD(clamp) OP_LINT_METHOD(softmax) OP_LINT_METHOD(sort)
  OP_LINT_METHOD(index_select) OP_LINT_METHOD(gather) OP_LINT_METHOD(flip) OP_LINT_METHOD(roll) OP_LINT_METHOD(pow)
  OP_LINT_METHOD(square) OP_LINT_METHOD(sin) OP_LINT_METHOD(cos) OP_LINT_METHOD(grad) OP_LINT_METHOD(matmul) OP_LINT_METHOD(mm) OP_LINT_METHOD(where) OP_LINT_METHOD(cumsum)
#define OP_LINT_INPLACE(name) template <class... A> Tensor& name(A&&...) const;
  OP_LINT_INPLACE(add_) OP_LINT_INPLACE(sub_) OP_LINT_INPLACE(mul_) OP_LINT_INPLACE(div_) OP_LINT_INPLACE(copy_)
  OP_LINT_INPLACE(zero_) OP_LINT_INPLACE(fill_) OP_LINT_INPLACE(resize_) OP_LINT_INPLACE(set_)
  Tensor& operator+=(const Tensor&);
  Tensor& operator*=(const Tensor&);
};
#define OP_LINT_OPERATOR(op)                                                                                         \
  Tensor operator op(const Tensor&, const Tensor&);                                                                  \
  Tensor operator op(const Tensor&, const c10::Scalar&);                                                             \
  Tensor operator op(const c10::Scalar&, const Tensor&);
OP_LINT_OPERATOR(+) OP_LINT_OPERATOR(-) OP_LINT_OPERATOR(*) OP_LINT_OPERATOR(/)
#define OP_LINT_FUNCTION(name) template <class... A> Tensor name(A&&...);
OP_LINT_FUNCTION(empty) OP_LINT_FUNCTION(empty_like) OP_LINT_FUNCTION(empty_symint) OP_LINT_FUNCTION(zeros)
OP_LINT_FUNCTION(zeros_like) OP_LINT_FUNCTION(ones) OP_LINT_FUNCTION(ones_like) OP_LINT_FUNCTION(full)
OP_LINT_FUNCTION(full_like) OP_LINT_FUNCTION(empty_strided) OP_LINT_FUNCTION(arange) OP_LINT_FUNCTION(tensor)
OP_LINT_FUNCTION(rand) OP_LINT_FUNCTION(randn) OP_LINT_FUNCTION(cat) OP_LINT_FUNCTION(stack) OP_LINT_FUNCTION(add)
OP_LINT_FUNCTION(sub) OP_LINT_FUNCTION(mul) OP_LINT_FUNCTION(div) OP_LINT_FUNCTION(mm) OP_LINT_FUNCTION(matmul)
OP_LINT_FUNCTION(sum) OP_LINT_FUNCTION(exp) OP_LINT_FUNCTION(relu) OP_LINT_FUNCTION(where)
OP_LINT_FUNCTION(from_blob)
struct OptionalTensorRef {};
using ITensorListRef = c10::IListRef<Tensor>;
using IOptTensorListRef = c10::IListRef<OptionalTensorRef>;
using MaterializedITensorListRef = std::vector<std::vector<Tensor>>;
using ITensorList = ITensorListRef;
using Stream = c10::Stream;
struct AutoDispatchBelowAutograd { AutoDispatchBelowAutograd(); };
struct AutoDispatchBelowADInplaceOrView { AutoDispatchBelowADInplaceOrView(); };
struct AutoNonVariableTypeMode { AutoNonVariableTypeMode(bool = true); };
struct AutoDispatchSkipFunctionalize {};
struct NoGradGuard {};
namespace native {}
namespace cuda { cudaStream_t getCurrentCUDAStream(); }
struct DeviceGuard_;
} // namespace at
namespace c10 {
namespace cuda {
struct CUDAStream { operator cudaStream_t() const; cudaStream_t stream() const; };
CUDAStream getCurrentCUDAStream(DeviceIndex = -1);
struct CUDAGuard { template <class... A> explicit CUDAGuard(A&&...); };
struct OptionalCUDAGuard { template <class... A> explicit OptionalCUDAGuard(A&&...); };
} // namespace cuda
} // namespace c10

// ---------------------------------------------------------------- torch
namespace torch {
using namespace at;
using at::Tensor;
using at::TensorList;
using c10::Device;
using c10::IValue;
using c10::RegisterOperators;
using c10::nullopt;
using c10::optional;
using Dtype = at::ScalarType;
struct NoGradGuard {};
enum class _RegisterOrVerify { REGISTER, VERIFY };
namespace jit {
using Stack = std::vector<c10::IValue>;
struct Operator { template <class... A> explicit Operator(A&&...); };
struct RegisterOperators {
  RegisterOperators();
  template <class T> explicit RegisterOperators(T&&);
  RegisterOperators(std::initializer_list<Operator>);
  template <class... A> RegisterOperators& op(A&&...);
};
template <class... A> void drop(A&&...);
template <class... A> c10::IValue pop(A&&...);
template <class... A> void push(A&&...);
c10::FunctionSchema parseSchema(const std::string&, bool = true);
c10::OperatorName parseName(const std::string&);
} // namespace jit
using jit::Stack;

template <class CurClass> class class_ {
 public:
  explicit class_(const std::string&, const std::string&, std::string = "");
  template <class... A> class_& def(A&&...);
  template <class... A> class_& def_static(A&&...);
  template <class... A> class_& def_readwrite(A&&...);
  template <class... A> class_& def_readonly(A&&...);
  template <class... A> class_& def_property(A&&...);
  template <class... A> class_& def_pickle(A&&...);
};
template <class... T> struct init_ {};
template <class... T> init_<T...> init();
template <class F> F init(F&&);

class CppFunction final {
 public:
  template <class Func> explicit CppFunction(Func*, std::nullptr_t = nullptr);
  template <class Func> explicit CppFunction(Func&&, std::nullptr_t = nullptr);
  CppFunction(CppFunction&&) noexcept;
  static CppFunction makeFromBoxedKernel(c10::BoxedKernel);
  static CppFunction makeFallthrough();
  template <auto* func> static CppFunction makeFromBoxedFunction();
  template <class KernelFunctor> static CppFunction makeFromBoxedFunctor(std::unique_ptr<KernelFunctor>);
  template <class FuncPtr> static CppFunction makeFromUnboxedFunction(FuncPtr*);
  template <class FuncPtr> static CppFunction makeFromUnboxedFunction(FuncPtr);
  static CppFunction makeNamedNotSupported();
  static CppFunction makeNamedNotSupportedKernel();
  static CppFunction makeAmbiguousAutogradOther();
  CppFunction&& debug(std::string) &&;
};
template <class Func> CppFunction dispatch(c10::DispatchKey, Func&&);
template <class Func> CppFunction dispatch(c10::DeviceType, Func&&);
c10::FunctionSchema schema(const char*, c10::AliasAnalysisKind, bool = false);
c10::FunctionSchema schema(const char*, bool = false);
c10::FunctionSchema&& schema(c10::FunctionSchema&&);
namespace autograd {
using variable_list = std::vector<at::Tensor>;
using tensor_list = variable_list;
using Variable = at::Tensor;
struct SavedData { template <class T> SavedData& operator=(T&&); template <class T> T to() const; int64_t toInt() const; double toDouble() const; bool toBool() const; at::Tensor toTensor() const; };
struct SavedDataMap { SavedData& operator[](const char*); };
struct AutogradContext {
  SavedDataMap saved_data;
  void save_for_backward(variable_list);
  variable_list get_saved_variables() const;
  template <class T> void mark_non_differentiable(T&&);
  template <class T> void mark_dirty(T&&);
};
template <class T> struct Function { template <class... A> static auto apply(A&&...) -> decltype(T::forward(nullptr, A()...)); };
torch::CppFunction autogradNotImplementedFallback();
torch::CppFunction autogradNotImplementedInplaceOrViewFallback();
torch::CppFunction basicAutogradNotImplementedFallback();
} // namespace autograd

namespace detail {
template <bool enabled> class SelectiveStr {
 public:
  constexpr explicit SelectiveStr(const char*);
  constexpr operator const char*();
};
class ClassNotSelected {
 public:
  ClassNotSelected& def_pickle(...);
  ClassNotSelected& def(...);
};
class TorchLibraryInit;
} // namespace detail
#define TORCH_SELECTIVE_CLASS(n) torch::detail::SelectiveStr<c10::impl::custom_class_allowlist_check(n)>(n)
#define TORCH_SELECTIVE_NAME(n) torch::detail::SelectiveStr<c10::impl::op_allowlist_check(n)>(n)
#define TORCH_SELECTIVE_SCHEMA(n) torch::detail::SelectiveStr<c10::impl::schema_allowlist_check(n)>(n)

class Library final {
 public:
  enum Kind { DEF, IMPL, FRAGMENT };
  Library(Kind, std::string, std::optional<c10::DispatchKey>, const char*, uint32_t);
  Library(Library&&);
  Library& def(c10::FunctionSchema&&, const std::vector<at::Tag>& = {}, _RegisterOrVerify = _RegisterOrVerify::REGISTER) &;
  Library& def(const char*, const std::vector<at::Tag>& = {}, _RegisterOrVerify = _RegisterOrVerify::REGISTER) &;
  template <class NameOrSchema, class Func> Library& def(NameOrSchema&&, Func&&, const std::vector<at::Tag>& = {}) &;
  Library& set_python_module(const char*, const char* = "");
  Library& impl_abstract_pystub(const char*, const char* = "");
  template <class Name, class Func> Library& impl(Name, Func&&, _RegisterOrVerify = _RegisterOrVerify::REGISTER) &;
  template <class Name, class Dispatch, class Func> Library& impl(Name, Dispatch&&, Func&&) &;
  template <class Name, class Func> Library& impl_UNBOXED(Name, Func*) &;
  template <class Func> Library& fallback(Func&&) &;
  template <class CurClass> torch::class_<CurClass> class_(const std::string&);
  template <class CurClass> torch::class_<CurClass> class_(detail::SelectiveStr<true>);
  c10::OperatorName _resolve(const char*) const;
  void reset();
};
namespace detail {
class TorchLibraryInit final {
 public:
  using InitFn = void(Library&);
  TorchLibraryInit(Library::Kind, InitFn*, const char*, std::optional<c10::DispatchKey>, const char*, uint32_t);
};
} // namespace detail

// The stable ABI: torch/csrc/stable
namespace stable {
namespace accelerator { using DeviceIndex = int32_t; }
using torch::headeronly::Layout;
using torch::headeronly::ScalarType;
using DeviceType = torch::headeronly::DeviceType;
using DeviceIndex = int32_t;
class Device {
 public:
  Device(DeviceType, DeviceIndex = -1);
  DeviceType type() const;
  DeviceIndex index() const;
};
class Tensor {
 public:
  Tensor();
  void* data_ptr() const;
  template <class T> T* mutable_data_ptr() const;
  template <class T> const T* const_data_ptr() const;
  int64_t dim() const;
  int64_t numel() const;
  int64_t size(int64_t) const;
  int64_t stride(int64_t) const;
  torch::headeronly::IntHeaderOnlyArrayRef sizes() const;
  torch::headeronly::IntHeaderOnlyArrayRef strides() const;
  bool is_contiguous() const;
  bool is_cuda() const;
  bool is_cpu() const;
  bool defined() const;
  ScalarType scalar_type() const;
  Device device() const;
};
namespace detail {
using StableIValue_ = uint64_t;
class StableLibrary final {
 public:
  enum class Kind { DEF, IMPL, FRAGMENT };
  StableLibrary(Kind, const char*, const char*, const char*, uint32_t);
  StableLibrary& impl(const char*, void (*)(uint64_t*, uint64_t, uint64_t));
  StableLibrary& def(const char*);
  StableLibrary& def(const char*, const std::vector<at::Tag>&);
  StableLibrary& set_python_module(const char*, const char* = "");
};
class StableTorchLibraryInit final {
 public:
  using InitFn = void(StableLibrary&);
  StableTorchLibraryInit(StableLibrary::Kind, InitFn*, const char*, const char*, const char*, uint32_t);
};
template <class FuncT, FuncT* func> struct boxer { static void boxed_fn(uint64_t*, uint64_t, uint64_t); };
} // namespace detail
#define OP_LINT_STABLE(name) template <class... A> Tensor name(A&&...);
OP_LINT_STABLE(empty_like) OP_LINT_STABLE(new_empty) OP_LINT_STABLE(new_zeros) OP_LINT_STABLE(empty)
OP_LINT_STABLE(zero_) OP_LINT_STABLE(fill_) OP_LINT_STABLE(copy_) OP_LINT_STABLE(clone) OP_LINT_STABLE(transpose)
OP_LINT_STABLE(contiguous) OP_LINT_STABLE(to) OP_LINT_STABLE(select) OP_LINT_STABLE(narrow) OP_LINT_STABLE(view)
} // namespace stable
} // namespace torch
using StableIValue = uint64_t;

// ---------------------------------------------------------------- registration macros
#define TORCH_FN_TYPE(func)                                                                                          \
  ::c10::CompileTimeFunctionPointer<std::remove_pointer_t<std::remove_reference_t<decltype(func)>>, func>
#define TORCH_FN(func) TORCH_FN_TYPE(func)()
#define TORCH_BOX(func)                                                                                              \
  torch::stable::detail::boxer<std::remove_pointer_t<std::remove_reference_t<decltype(func)>>, (func)>::boxed_fn

#define OP_LINT_UNIT(Init, Lib, function, variable, kind, ns, key)                                                   \
  static void function(Lib&);                                                                                        \
  static const Init variable(kind, &function, ns, key, __FILE__, __LINE__);                                          \
  void function

// The names of a TORCH_LIBRARY have a number here, so that a second one of a namespace is read as such.
#define TORCH_LIBRARY(ns, m)                                                                                         \
  OP_LINT_UNIT(torch::detail::TorchLibraryInit, torch::Library, C10_CONCATENATE(TORCH_LIBRARY_init_##ns, C10_UID),    \
               C10_CONCATENATE(TORCH_LIBRARY_static_init_##ns, C10_UID), torch::Library::DEF, C10_STRINGIZE(ns),     \
               std::nullopt)                                                                                         \
  (torch::Library & m)
#define TORCH_LIBRARY_FRAGMENT(ns, m) _TORCH_LIBRARY_FRAGMENT(ns, m, C10_UID)
#define _TORCH_LIBRARY_FRAGMENT(ns, m, uid)                                                                          \
  OP_LINT_UNIT(torch::detail::TorchLibraryInit, torch::Library,                                                      \
               C10_CONCATENATE(TORCH_LIBRARY_FRAGMENT_init_##ns##_, uid),                                            \
               C10_CONCATENATE(TORCH_LIBRARY_FRAGMENT_static_init_##ns##_, uid), torch::Library::FRAGMENT,           \
               C10_STRINGIZE(ns), std::nullopt)                                                                      \
  (torch::Library & m)
#define TORCH_LIBRARY_IMPL(ns, k, m) _TORCH_LIBRARY_IMPL(ns, k, m, C10_UID)
#define _TORCH_LIBRARY_IMPL(ns, k, m, uid)                                                                           \
  OP_LINT_UNIT(torch::detail::TorchLibraryInit, torch::Library,                                                      \
               C10_CONCATENATE(TORCH_LIBRARY_IMPL_init_##ns##_##k##_, uid),                                          \
               C10_CONCATENATE(TORCH_LIBRARY_IMPL_static_init_##ns##_##k##_, uid), torch::Library::IMPL,             \
               C10_STRINGIZE(ns), std::make_optional(c10::DispatchKey::k))                                           \
  (torch::Library & m)
#define MAKE_TORCH_LIBRARY(ns) torch::Library(torch::Library::DEF, #ns, std::nullopt, __FILE__, __LINE__)
#define MAKE_TORCH_LIBRARY_IMPL(ns, k)                                                                               \
  torch::Library(torch::Library::IMPL, #ns, std::make_optional(c10::DispatchKey::k), __FILE__, __LINE__)

// ---------------------------------------------------------------- ATen/autocast_mode.h
// What the operators that are cast for look like, no header here says: their wrappers take anything.
namespace op_lint { struct unknown; }
namespace at {
op_lint::unknown op_lint_operator(...);
namespace autocast {
enum class CastPolicy : uint8_t { lower_precision_fp = 0, fp32, fp32_set_opt_dtype, fp32_append_dtype, promote };
template <CastPolicy, c10::DeviceType, class Registered, class Redispatch, Redispatch*>
struct WrapFunction final {
  struct type { static op_lint::unknown call(...); };
};
} // namespace autocast
} // namespace at
#define ATEN_FN(op_name) ::at::op_lint_operator
#define ATEN_FN2(op_name, overload) ::at::op_lint_operator
#define ADD_NS(RAW_OP) at::RAW_OP
#define OP_LINT_CAST(device, name, policy)                                                                           \
  m.impl(TORCH_SELECTIVE_NAME(name),                                                                                 \
         &::at::autocast::WrapFunction<::at::autocast::CastPolicy::policy, device, decltype(::at::op_lint_operator), \
                                       decltype(::at::op_lint_operator), &::at::op_lint_operator>::type::call);
#define KERNEL1(DISPATCHKEY, OP, POLICY) OP_LINT_CAST(DISPATCHKEY, "aten::" #OP, POLICY)
#define KERNEL2(DISPATCHKEY, OP, OVERLOAD, POLICY) OP_LINT_CAST(DISPATCHKEY, "aten::" #OP "." #OVERLOAD, POLICY)
#define OP_LINT_KERNEL_N(_0, _1, _2, macro, ...) macro
#define KERNEL(DISPATCHKEY, ...) OP_LINT_KERNEL_N(__VA_ARGS__, KERNEL2, KERNEL1)(DISPATCHKEY, __VA_ARGS__)
#define KERNEL_DIFFERENT_REDISPATCH_SIGNATURE(DISPATCHKEY, REDISPATCH_FUNC, NAME, REGISTERED, REDISPATCHED, POLICY)  \
  OP_LINT_CAST(DISPATCHKEY, "aten::" NAME, POLICY)
#define KERNEL_CPU(...) KERNEL(c10::DeviceType::CPU, __VA_ARGS__)
#define KERNEL_CUDA(...) KERNEL(c10::DeviceType::CUDA, __VA_ARGS__)
#define KERNEL_MTIA(...) KERNEL(c10::DeviceType::MTIA, __VA_ARGS__)
#define KERNEL_MAIA(...) KERNEL(c10::DeviceType::MAIA, __VA_ARGS__)
#define KERNEL_XPU(...) KERNEL(c10::DeviceType::XPU, __VA_ARGS__)
#define KERNEL_PRIVATEUSEONE(...) KERNEL(c10::DeviceType::PrivateUse1, __VA_ARGS__)
#define KERNEL_MPS(...) KERNEL(c10::DeviceType::MPS, __VA_ARGS__)
#define KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_CPU(...)                                                  \
  KERNEL_DIFFERENT_REDISPATCH_SIGNATURE(c10::DeviceType::CPU, __VA_ARGS__)
#define KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_CUDA(...)                                                  \
  KERNEL_DIFFERENT_REDISPATCH_SIGNATURE(c10::DeviceType::CUDA, __VA_ARGS__)
#define KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_MTIA(...)                                                  \
  KERNEL_DIFFERENT_REDISPATCH_SIGNATURE(c10::DeviceType::MTIA, __VA_ARGS__)
#define KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_MAIA(...)                                                  \
  KERNEL_DIFFERENT_REDISPATCH_SIGNATURE(c10::DeviceType::MAIA, __VA_ARGS__)
#define KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_XPU(...)                                                  \
  KERNEL_DIFFERENT_REDISPATCH_SIGNATURE(c10::DeviceType::XPU, __VA_ARGS__)
#define KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE(...)                                                  \
  KERNEL_DIFFERENT_REDISPATCH_SIGNATURE(c10::DeviceType::PrivateUse1, __VA_ARGS__)
// Until torch 2.1 those with an overload had a name of their own.
#define KERNEL_CPU2(...) KERNEL2(c10::DeviceType::CPU, __VA_ARGS__)
#define KERNEL_CUDA2(...) KERNEL2(c10::DeviceType::CUDA, __VA_ARGS__)
#define KERNEL_XPU2(...) KERNEL2(c10::DeviceType::XPU, __VA_ARGS__)
#define KERNEL_PRIVATEUSEONE2(...) KERNEL2(c10::DeviceType::PrivateUse1, __VA_ARGS__)

#define STABLE_TORCH_LIBRARY(ns, m)                                                                                  \
  OP_LINT_UNIT(torch::stable::detail::StableTorchLibraryInit, torch::stable::detail::StableLibrary,                  \
               C10_CONCATENATE(STABLE_TORCH_LIBRARY_init_##ns, C10_UID),                                             \
               C10_CONCATENATE(STABLE_TORCH_LIBRARY_static_init_##ns, C10_UID),                                      \
               torch::stable::detail::StableLibrary::Kind::DEF, C10_STRINGIZE(ns), nullptr)                          \
  (torch::stable::detail::StableLibrary & m)
#define STABLE_TORCH_LIBRARY_FRAGMENT(ns, m) _STABLE_TORCH_LIBRARY_FRAGMENT(ns, m, C10_UID)
#define _STABLE_TORCH_LIBRARY_FRAGMENT(ns, m, uid)                                                                   \
  OP_LINT_UNIT(torch::stable::detail::StableTorchLibraryInit, torch::stable::detail::StableLibrary,                  \
               C10_CONCATENATE(STABLE_TORCH_LIBRARY_FRAGMENT_init_##ns##_, uid),                                     \
               C10_CONCATENATE(STABLE_TORCH_LIBRARY_FRAGMENT_static_init_##ns##_, uid),                              \
               torch::stable::detail::StableLibrary::Kind::FRAGMENT, C10_STRINGIZE(ns), nullptr)                     \
  (torch::stable::detail::StableLibrary & m)
#define STABLE_TORCH_LIBRARY_IMPL(ns, k, m) _STABLE_TORCH_LIBRARY_IMPL(ns, k, m, C10_UID)
#define _STABLE_TORCH_LIBRARY_IMPL(ns, k, m, uid)                                                                    \
  OP_LINT_UNIT(torch::stable::detail::StableTorchLibraryInit, torch::stable::detail::StableLibrary,                  \
               C10_CONCATENATE(STABLE_TORCH_LIBRARY_IMPL_init_##ns##_##k##_, uid),                                   \
               C10_CONCATENATE(STABLE_TORCH_LIBRARY_IMPL_static_init_##ns##_##k##_, uid),                            \
               torch::stable::detail::StableLibrary::Kind::IMPL, C10_STRINGIZE(ns), C10_STRINGIZE(k))                \
  (torch::stable::detail::StableLibrary & m)
