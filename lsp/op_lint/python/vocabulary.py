"""The names in torch and Python that the reader understands, as of torch 2.4 to 2.13."""

from __future__ import annotations

import re
import sys

from op_lint.dispatch.keys import RENAMED_BACKENDS

FOREIGN = frozenset(sys.stdlib_module_names) | {
    "numpy",
    "pytest",
    "torch",
    "torchgen",
    "triton",
    "typing_extensions",
}
"""Top-level modules that no project of interest is: nothing is gained by looking for them among the project's files."""

_LIBRARY_FUNCTIONS = (
    "Library",
    "_scoped_library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_kernel",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
    "triton_op",
)

APIS: dict[str, str] = {
    **{f"torch.library.{name}": f"torch.library.{name}" for name in _LIBRARY_FUNCTIONS},
    "torch._C._dispatch_library": "torch._C._dispatch_library",
    "torch._custom_op.impl.custom_op": "torch._custom_op.impl.custom_op",
    "torch._custom_op.impl.infer_schema": "torch.library.infer_schema",
    "torch._custom_ops.custom_op": "torch._custom_ops.custom_op",
    "torch._custom_ops.impl": "torch._custom_ops.impl",
    "torch._custom_ops.impl_abstract": "torch._custom_ops.impl_abstract",
    "torch._custom_ops.impl_backward": "torch._custom_ops.impl_backward",
    "torch._custom_ops.infer_schema": "torch.library.infer_schema",
    "torch._library.custom_ops.custom_op": "torch.library.custom_op",
    "torch._library.infer_schema.infer_schema": "torch.library.infer_schema",
    "torch._library.triton.triton_op": "torch.library.triton_op",
    "torch._library.triton_op": "torch.library.triton_op",
    "torch._subclasses.fake_impls.register_op_impl": "torch._subclasses.fake_impls.register_op_impl",
    "torch.classes.load_library": "torch.classes.load_library",
    "torch.ops.import_module": "torch.ops.import_module",
    "torch.ops.load_library": "torch.ops.load_library",
    "torch.utils.cpp_extension.load": "torch.utils.cpp_extension.load",
    "torch.utils.cpp_extension.load_inline": "torch.utils.cpp_extension.load_inline",
}
"""Every dotted name of a function that registers, loads or names operators, and the name it is best known by."""

SINCE_2_4 = (
    frozenset(_LIBRARY_FUNCTIONS) - {"infer_schema", "get_kernel", "triton_op", "register_vmap"} - {"register_autocast"}
)
"""What every supported torch has in `torch.library`: `hasattr(torch.library, ...)` is true of it (torch 2.4)."""

TORCH_LIBRARIES = {
    "torch._prims.prim": "prims",
    "torch.ao.quantization.fx._decomposed.quantized_decomposed_lib": "quantized_decomposed",
    "torch.distributed._symmetric_memory.lib": "symm_mem",
}
"""`Library` objects in torch's own modules that others register into, and their namespaces (torch 2.13)."""

LIBRARY_METHODS = frozenset({"_impl_with_aoti_compile", "_register_fake", "define", "fallback", "impl"})
"""The methods of `torch.library.Library` that register something."""

CUSTOM_OP_METHODS = frozenset(
    {
        "impl",
        "impl_abstract",
        "impl_backward",
        "impl_factory",
        "register_autocast",
        "register_autograd",
        "register_fake",
        "register_kernel",
        "register_torch_dispatch",
        "register_vmap",
    }
)
"""The methods of what `custom_op` returns, the old one (`torch._custom_op`) included."""

PACKET_ATTRIBUTES = frozenset({"name", "op", "op_overloads", "overloads", "schemas"})
"""The public attributes of an operator (`OpOverloadPacket`) that are no overload of it."""

OPS_ATTRIBUTES = frozenset({"import_module", "load_library", "loaded_libraries"})
"""The attributes of `torch.ops` that are no namespace."""

DEVICE_KEYS = {
    "cpu": "CPU",
    "cuda": "CUDA",
    "fpga": "FPGA",
    "hip": "HIP",
    "hpu": "HPU",
    "ipu": "IPU",
    "lazy": "Lazy",
    "maia": "MAIA",
    "meta": "Meta",
    "mps": "MPS",
    "mtia": "MTIA",
    "privateuseone": "PrivateUse1",
    "ve": "VE",
    "vulkan": "Vulkan",
    "xla": "XLA",
    "xpu": "XPU",
}
"""The dispatch key of each device type (`torch._C._dispatch_key_for_device`, torch 2.13)."""

DEFAULT = "default"
"""The `types` of `torch.library.impl` for all devices."""

COMPOSITE_IMPLICIT = "CompositeImplicitAutograd"
COMPOSITE_EXPLICIT = "CompositeExplicitAutograd"


def key_of(device: str) -> str:
    """The dispatch key that a device type stands for; other texts are keys already."""
    if device == DEFAULT:
        return COMPOSITE_EXPLICIT
    return "PrivateUse1" if device in RENAMED_BACKENDS else DEVICE_KEYS.get(device, device)


DTYPES = {
    "bfloat16": "bfloat16",
    "bit": "uint1",
    "bits16": "bits16",
    "bits1x8": "bits1x8",
    "bits2x4": "bits2x4",
    "bits4x2": "bits4x2",
    "bits8": "bits8",
    "bool": "bool",
    "cdouble": "complex128",
    "cfloat": "complex64",
    "chalf": "complex32",
    "complex128": "complex128",
    "complex32": "complex32",
    "complex64": "complex64",
    "double": "float64",
    "float": "float32",
    "float16": "float16",
    "float32": "float32",
    "float4_e2m1fn_x2": "float4_e2m1fn_x2",
    "float64": "float64",
    "float8_e4m3fn": "float8_e4m3fn",
    "float8_e4m3fnuz": "float8_e4m3fnuz",
    "float8_e5m2": "float8_e5m2",
    "float8_e5m2fnuz": "float8_e5m2fnuz",
    "float8_e8m0fnu": "float8_e8m0fnu",
    "half": "float16",
    "int": "int32",
    "int1": "int1",
    "int16": "int16",
    "int2": "int2",
    "int3": "int3",
    "int32": "int32",
    "int4": "int4",
    "int5": "int5",
    "int6": "int6",
    "int64": "int64",
    "int7": "int7",
    "int8": "int8",
    "long": "int64",
    "qint32": "qint32",
    "qint8": "qint8",
    "quint2x4": "quint2x4",
    "quint4x2": "quint4x2",
    "quint8": "quint8",
    "short": "int16",
    "uint1": "uint1",
    "uint16": "uint16",
    "uint2": "uint2",
    "uint3": "uint3",
    "uint32": "uint32",
    "uint4": "uint4",
    "uint5": "uint5",
    "uint6": "uint6",
    "uint64": "uint64",
    "uint7": "uint7",
    "uint8": "uint8",
}
"""The names of dtypes in `torch`, and the name that a dtype prints as (torch 2.13)."""

REGISTERING_NAME = re.compile(
    r"regist|custom_?op|define|librar|dialect|impl_abstract|abstract_impl|load_(?:torch|ops?|ext)"
    r"|(?:^|_)fake(?:$|_(?!quant|tensor|mode|data|input|module))",
    re.IGNORECASE,
)
"""Names of functions that register operators: a call of such a one from another file is worth remembering."""

RELATED_NAME = re.compile(r"ops?$|impl|meta|abstract|kernel|wrap", re.IGNORECASE)
"""Names that they may have, too, and many other functions: worth it if the arguments look like it."""

QUALIFIED = re.compile(r"[A-Za-z_]\w*::\w+")
"""A string that names an operator, or starts like one."""

SCHEMA = re.compile(r"\w+(?:\.\w+)?\s*\(.*\)\s*->", re.DOTALL)
"""A string that looks like an operator's schema."""
