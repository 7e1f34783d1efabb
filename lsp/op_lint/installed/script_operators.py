"""The operators of TorchScript that the dispatcher does not have, and that `torch.ops` finds all the same (torch 2.13).

`torch.ops.aten.add.default` is one: it adds two Python numbers. What torch lists (`torch._C._jit_get_all_schemas`) is
compared with this list by a test.
"""

from __future__ import annotations

from functools import cache

_NAMES = """
    aten::Bool.Tensor aten::Bool.float aten::Bool.int aten::Complex.Scalar aten::Complex.Tensor_Tensor
    aten::Complex.Tensor_bool aten::Complex.Tensor_float aten::Complex.Tensor_int aten::Complex.bool_Tensor
    aten::Complex.bool_bool aten::Complex.bool_float aten::Complex.bool_int aten::Complex.float_Tensor
    aten::Complex.float_bool aten::Complex.float_float aten::Complex.float_int aten::Complex.int_Tensor
    aten::Complex.int_bool aten::Complex.int_float aten::Complex.int_int aten::ComplexImplicit
    aten::Delete.Dict_Tensor aten::Delete.Dict_bool aten::Delete.Dict_complex aten::Delete.Dict_float
    aten::Delete.Dict_int aten::Delete.Dict_str aten::Delete.t aten::Float.Scalar aten::Float.Tensor aten::Float.bool
    aten::Float.int aten::Float.str aten::FloatImplicit aten::Generator aten::Int.Scalar aten::Int.Tensor
    aten::Int.bool aten::Int.float aten::Int.str aten::IntImplicit aten::ScalarImplicit aten::Size aten::__and__.bool
    aten::__and__.int aten::__contains__.Tensor aten::__contains__.bool aten::__contains__.complex
    aten::__contains__.float aten::__contains__.float_list aten::__contains__.int aten::__contains__.int_list
    aten::__contains__.str aten::__contains__.str_list aten::__derive_index aten::__getitem__.Dict_Tensor
    aten::__getitem__.Dict_bool aten::__getitem__.Dict_complex aten::__getitem__.Dict_float aten::__getitem__.Dict_int
    aten::__getitem__.Dict_str aten::__getitem__.str aten::__getitem__.t aten::__interpolate
    aten::__interpolate.scale_list aten::__interpolate.size_list aten::__interpolate.size_list_scale_list aten::__is__
    aten::__isnot__ aten::__lshift__.int aten::__not__ aten::__or__.bool aten::__or__.int aten::__range_length
    aten::__round_to_zero_floordiv.int aten::__rshift__.int aten::__upsample aten::__upsample.size_list
    aten::__upsample_bilinear aten::__upsample_bilinear.scale_list aten::__upsample_bilinear.size_list
    aten::__upsample_bilinear.size_list_scale_list aten::__upsample_nearest aten::__upsample_nearest.size_list
    aten::__xor__.bool aten::__xor__.int aten::_get_cpu_capability aten::_get_tracing_state aten::_grad_sum_to_size
    aten::_index_put_impl_.hacked_twin aten::_infer_size aten::_list_to_tensor aten::_ncf_unsqueeze aten::_ncf_view
    aten::_no_grad_embedding_renorm_ aten::_no_grad_fill_ aten::_no_grad_normal_ aten::_no_grad_uniform_
    aten::_no_grad_zero_ aten::_pack_sequence aten::_set_item.Tensor aten::_set_item.bool aten::_set_item.complex
    aten::_set_item.float aten::_set_item.int aten::_set_item.str aten::_set_item.t aten::_size_if_not_equal
    aten::_tensor_to_list aten::_unsafe_index.Tensor_hacked_twin aten::_unsafe_index_put.hacked_twin
    aten::_unwrap_optional aten::acos.Scalar aten::acos.complex aten::acos.float aten::acos.int aten::acosh.Scalar
    aten::acosh.complex aten::acosh.float aten::acosh.int aten::add aten::add.complex aten::add.complex_float
    aten::add.complex_int aten::add.float aten::add.float_complex aten::add.float_int aten::add.int
    aten::add.int_complex aten::add.int_float aten::add.str aten::add.t aten::add_.t aten::all.bool aten::all.float
    aten::all.int aten::angle.Scalar aten::angle.complex aten::angle.float aten::angle.int aten::any.bool
    aten::any.float aten::any.int aten::any.str aten::append.t aten::as_tensor aten::as_tensor.bool
    aten::as_tensor.complex aten::as_tensor.float aten::as_tensor.int aten::as_tensor.list aten::asin.Scalar
    aten::asin.complex aten::asin.float aten::asin.int aten::asinh.Scalar aten::asinh.complex aten::asinh.float
    aten::asinh.int aten::atan.Scalar aten::atan.complex aten::atan.float aten::atan.int aten::atan2.Scalar_Scalar
    aten::atan2.float aten::atan2.float_int aten::atan2.int aten::atan2.int_float aten::atanh.Scalar
    aten::atanh.complex aten::atanh.float aten::atanh.int aten::backward aten::backward.TensorList aten::bin
    aten::broadcast_shapes aten::capitalize aten::ceil.Scalar aten::ceil.float aten::ceil.int aten::center aten::chr
    aten::clear.Tensor aten::clear.bool aten::clear.complex aten::clear.float aten::clear.int aten::clear.str
    aten::clear.t aten::confirmed_by_owner aten::copy.Dict_Tensor aten::copy.Dict_bool aten::copy.Dict_complex
    aten::copy.Dict_float aten::copy.Dict_int aten::copy.Dict_str aten::copy.t aten::copy_.Tensor aten::copy_.float
    aten::copy_.int aten::copysign aten::copysign.float aten::copysign.float_int aten::copysign.int
    aten::copysign.int_float aten::cos.Scalar aten::cos.complex aten::cos.float aten::cos.int aten::cosh.Scalar
    aten::cosh.complex aten::cosh.float aten::cosh.int aten::count aten::count.Tensor aten::count.bool
    aten::count.float aten::count.int aten::count.str aten::cpu aten::cuda aten::degrees.Scalar aten::degrees.float
    aten::degrees.int aten::dequantize.any aten::dequantize.list aten::dequantize.tensor aten::device
    aten::device.with_index aten::dict aten::dict.Dict_Tensor aten::dict.Dict_bool aten::dict.Dict_complex
    aten::dict.Dict_float aten::dict.Dict_int aten::dict.Dict_str aten::dict.Tensor aten::dict.bool aten::dict.complex
    aten::dict.float aten::dict.int aten::dict.str aten::dist_backward aten::div aten::div.complex aten::div.float
    aten::div.int aten::divmod.float aten::divmod.float_int aten::divmod.int aten::divmod.int_float
    aten::einsum.sublist aten::element_size aten::endswith aten::eq aten::eq.Tensor_list aten::eq.bool
    aten::eq.bool_list aten::eq.complex aten::eq.complex_float aten::eq.device aten::eq.enum aten::eq.float
    aten::eq.float_complex aten::eq.float_int aten::eq.float_list aten::eq.int aten::eq.int_float aten::eq.int_list
    aten::eq.str aten::eq.str_list aten::erf.Scalar aten::erf.float aten::erf.int aten::erfc.Scalar aten::erfc.float
    aten::erfc.int aten::exp.Scalar aten::exp.complex aten::exp.float aten::exp.int aten::expandtabs
    aten::expm1.Scalar aten::expm1.float aten::expm1.int aten::extend.t aten::fabs.Scalar aten::fabs.float
    aten::fabs.int aten::factorial.int aten::find aten::floor.Scalar aten::floor.float aten::floor.int aten::floordiv
    aten::floordiv.float aten::floordiv.float_int aten::floordiv.int aten::floordiv.int_float aten::fmod
    aten::fmod.float aten::fmod.float_int aten::fmod.int aten::fmod.int_float aten::format aten::frexp
    aten::gamma.Scalar aten::gamma.float aten::gamma.int aten::gcd.int aten::ge aten::ge.float aten::ge.float_int
    aten::ge.int aten::ge.int_float aten::ge.str aten::get.Tensor aten::get.bool aten::get.complex
    aten::get.default_Tensor aten::get.default_bool aten::get.default_complex aten::get.default_float
    aten::get.default_int aten::get.default_str aten::get.float aten::get.int aten::get.str aten::get_autocast_dtype
    aten::grad aten::gt aten::gt.float aten::gt.float_int aten::gt.int aten::gt.int_float aten::gt.str
    aten::has_torch_function aten::hash.generic aten::hex aten::index.Tensor_hacked_twin aten::index.list_Tensor
    aten::index.list_bool aten::index.list_float aten::index.list_int aten::index.list_str aten::index.str
    aten::index_put.hacked_twin aten::index_put_.hacked_twin aten::initial_seed aten::insert.t
    aten::is_autocast_cpu_enabled aten::is_autocast_enabled aten::is_grad_enabled aten::is_non_overlapping_and_dense
    aten::is_owner aten::is_scripting aten::is_strides_like_format aten::isalnum aten::isalpha aten::isdecimal
    aten::isdigit aten::isfinite.complex aten::isfinite.float aten::isidentifier aten::isinf.complex aten::isinf.float
    aten::islower aten::isnan.complex aten::isnan.float aten::isnumeric aten::isprintable aten::isspace aten::istitle
    aten::isupper aten::items.Tensor aten::items.bool aten::items.complex aten::items.float aten::items.int
    aten::items.str aten::join aten::keys.Tensor aten::keys.bool aten::keys.complex aten::keys.float aten::keys.int
    aten::keys.str aten::ldexp aten::le aten::le.float aten::le.float_int aten::le.int aten::le.int_float aten::le.str
    aten::len.Dict_Tensor aten::len.Dict_bool aten::len.Dict_complex aten::len.Dict_float aten::len.Dict_int
    aten::len.Dict_str aten::len.Tensor aten::len.any aten::len.str aten::len.t aten::lgamma.Scalar aten::lgamma.float
    aten::lgamma.int aten::list aten::list.t aten::ljust aten::local_value aten::log.Scalar aten::log.Scalar_Scalar
    aten::log.complex aten::log.complex_complex aten::log.complex_float aten::log.complex_int aten::log.float
    aten::log.float_complex aten::log.float_float aten::log.float_int aten::log.int aten::log.int_complex
    aten::log.int_float aten::log.int_int aten::log10.Scalar aten::log10.complex aten::log10.float aten::log10.int
    aten::log1p.Scalar aten::log1p.float aten::log1p.int aten::lower aten::lstrip aten::lt aten::lt.float
    aten::lt.float_int aten::lt.int aten::lt.int_float aten::lt.str aten::mH.a aten::mT.a aten::manual_seed
    aten::manual_seed.generator aten::mathremainder aten::mathremainder.float aten::mathremainder.float_int
    aten::mathremainder.int aten::mathremainder.int_float aten::matrix_H.a aten::modf aten::mul aten::mul.complex
    aten::mul.complex_float aten::mul.complex_int aten::mul.float aten::mul.float_complex aten::mul.float_int
    aten::mul.int aten::mul.int_complex aten::mul.int_float aten::mul.left_t aten::mul.right_ aten::mul_.t aten::ne
    aten::ne.Tensor_list aten::ne.bool aten::ne.bool_list aten::ne.complex aten::ne.complex_float aten::ne.device
    aten::ne.enum aten::ne.float aten::ne.float_complex aten::ne.float_int aten::ne.float_list aten::ne.int
    aten::ne.int_float aten::ne.int_list aten::ne.str aten::ne.str_list aten::neg.Scalar aten::neg.complex
    aten::neg.float aten::neg.int aten::numpy_T.a aten::oct aten::ord aten::owner aten::owner_name aten::partition
    aten::percentFormat aten::polar.Scalar_Scalar aten::polar.float aten::polar.float_int aten::polar.int
    aten::polar.int_float aten::pop.Dict_Tensor aten::pop.Dict_bool aten::pop.Dict_complex
    aten::pop.Dict_default_Tensor aten::pop.Dict_default_bool aten::pop.Dict_default_complex
    aten::pop.Dict_default_float aten::pop.Dict_default_int aten::pop.Dict_default_str aten::pop.Dict_float
    aten::pop.Dict_int aten::pop.Dict_str aten::pop.t aten::popitem.Tensor aten::popitem.bool aten::popitem.complex
    aten::popitem.float aten::popitem.int aten::popitem.str aten::pow.Scalar_Scalar aten::pow.complex
    aten::pow.complex_float aten::pow.float aten::pow.float_complex aten::pow.float_int aten::pow.int
    aten::pow.int_float aten::pow.int_to_int aten::radians.Scalar aten::radians.float aten::radians.int
    aten::remainder aten::remainder.float aten::remainder.float_int aten::remainder.int aten::remainder.int_float
    aten::remove.Tensor aten::remove.bool aten::remove.float aten::remove.int aten::remove.str aten::replace
    aten::reverse.t aten::rfind aten::rindex aten::rjust aten::round.Scalar aten::round.float aten::round.int
    aten::rpartition aten::rsplit aten::rstrip aten::save aten::seed aten::select.t aten::set_grad_enabled
    aten::setdefault.Tensor aten::setdefault.bool aten::setdefault.complex aten::setdefault.float aten::setdefault.int
    aten::setdefault.str aten::sin.Scalar aten::sin.complex aten::sin.float aten::sin.int aten::sinh.Scalar
    aten::sinh.complex aten::sinh.float aten::sinh.int aten::size aten::slice.str aten::slice.t aten::sort.Tensor
    aten::sort.any aten::sort.bool aten::sort.float aten::sort.int aten::sort.str aten::sorted.Tensor aten::sorted.any
    aten::sorted.bool aten::sorted.float aten::sorted.int aten::sorted.str aten::split aten::split.str
    aten::splitlines aten::sqrt.Scalar aten::sqrt.complex aten::sqrt.float aten::sqrt.int aten::startswith aten::str
    aten::stride aten::strip aten::sub aten::sub.complex aten::sub.complex_float aten::sub.complex_int aten::sub.float
    aten::sub.float_complex aten::sub.float_int aten::sub.int aten::sub.int_complex aten::sub.int_float aten::sum.bool
    aten::sum.complex aten::sum.float aten::sum.int aten::swapcase aten::sym_size aten::sym_stride aten::tan.Scalar
    aten::tan.complex aten::tan.float aten::tan.int aten::tanh.Scalar aten::tanh.complex aten::tanh.float
    aten::tanh.int aten::tensor aten::tensor.bool aten::tensor.complex aten::tensor.float aten::tensor.int aten::title
    aten::to.prim_Device aten::to.prim_dtype aten::to.prim_other aten::to_here aten::update.Tensor aten::update.bool
    aten::update.complex aten::update.float aten::update.int aten::update.str aten::upper aten::values.Tensor
    aten::values.bool aten::values.complex aten::values.float aten::values.int aten::values.str aten::wait aten::warn
    aten::zfill onnx::Reshape onnx::Shape prim::AddStatValue prim::AutogradAdd prim::AutogradAllNonZero
    prim::AutogradAllZero prim::AutogradAnyNonZero prim::AutogradZero prim::BailOut prim::BailoutTemplate
    prim::BroadcastMKLDNNTensors prim::BroadcastSizes prim::ChunkSizes prim::ConstantChunk prim::ConstantMKLDNNTensor
    prim::DifferentiableGraph prim::EnumName prim::EnumValue.float prim::EnumValue.int prim::EnumValue.str
    prim::FallbackGraph prim::FusedConcat prim::FusionGroup prim::Guard prim::IfThenElse prim::IgnoredPythonOp
    prim::MKLDNNClamp prim::MKLDNNClamp_ prim::MKLDNNHardSigmoid prim::MKLDNNHardSigmoid_ prim::MKLDNNHardSwish
    prim::MKLDNNHardSwish_ prim::MKLDNNHardTanh prim::MKLDNNHardTanh_ prim::MKLDNNLayerNorm prim::MKLDNNLayerNorm_
    prim::MKLDNNScalarMul prim::MKLDNNScalarMul_ prim::MMBatchSide prim::MMTreeReduce prim::ModuleContainerIndex.dict
    prim::ModuleContainerIndex.list prim::NumToTensor.Scalar prim::NumToTensor.bool prim::Print prim::PythonOp
    prim::RaiseException prim::ReductionSizes prim::RequiresGradCheck prim::StaticRuntimeCopyOuts prim::StaticSubgraph
    prim::StringIndex prim::TensorExprDynamicGroup prim::TensorExprDynamicGuard prim::TensorExprGroup prim::TimePoint
    prim::TupleIndex prim::TupleUnpack prim::TypeCheck prim::Uninitialized prim::VarConcat prim::VarStack prim::abs
    prim::abs.Scalar prim::abs.complex prim::abs.float prim::abs.int prim::awaitable_nowait prim::awaitable_wait
    prim::data prim::device prim::dtype prim::grad prim::id prim::index prim::is_cpu prim::is_cuda prim::is_ipu
    prim::is_maia prim::is_meta prim::is_mkldnn prim::is_mps prim::is_mtia prim::is_nested prim::is_quantized
    prim::is_sparse prim::is_sparse_csr prim::is_vulkan prim::is_xla prim::is_xpu prim::itemsize prim::layout
    prim::max prim::max.bool_list prim::max.float prim::max.float_int prim::max.float_list prim::max.int
    prim::max.int_float prim::max.int_list prim::max.self_bool prim::max.self_float prim::max.self_int prim::min
    prim::min.bool_list prim::min.float prim::min.float_int prim::min.float_list prim::min.int prim::min.int_float
    prim::min.int_list prim::min.self_bool prim::min.self_float prim::min.self_int prim::mkldnn_convolution prim::name
    prim::nbytes prim::oneDNNFusionGroup prim::oneDNNFusionGuard prim::profile prim::profile_ivalue prim::rangelist
    prim::requires_grad prim::rpc_async prim::rpc_remote prim::rpc_sync prim::tolist prim::type prim::unchecked_cast
    prim::unchecked_unwrap_optional profiler::_call_end_callbacks_on_jit_fut
    profiler::_call_end_callbacks_on_jit_fut._RecordFunction
"""


@cache
def script_operators() -> dict[str, tuple[str, ...]]:
    """Their full names, by `namespace::name`."""
    found: dict[str, tuple[str, ...]] = {}
    for name in _NAMES.split():
        plain = name.partition(".")[0]
        found[plain] = (*found.get(plain, ()), name)
    return found
