"""Errors of registrations: what torch refuses, or warns of, as a library is loaded or a module imported."""

from __future__ import annotations

from op_lint.errors.kind import Kind, Stage
from op_lint.message import Message

DUPLICATE_DEFINITION = Kind(
    "duplicate-definition",
    Stage.LOAD,
    (
        Message(
            "Tried to register an operator ({schema}) with the same name and overload name multiple times. Each"
            " overload's schema should only be registered with a single call to def(). Duplicate registration: {place}."
            " Original registration: {place2}",
            "with the same name and overload name multiple times.",
        ),
        Message(
            "Tried to register an operator ({schema}) with the same name and overload name multiple times.",
            "with the same name and overload name multiple times.",
        ),
    ),
    "an operator was defined that is there already. In C++ this ends the process, whatever is around the import.",
    (
        "keep one definition; where both are meant, give one another name or overload",
        "where both places are the same, the library was loaded twice: from a copy, or linked into two libraries",
    ),
    ("OPL202", "OPL212", "OPL503", "OPL111", "OPL214"),
)

DUPLICATE_NAMESPACE = Kind(
    "duplicate-namespace",
    Stage.LOAD,
    (
        Message(
            "Only a single TORCH_LIBRARY can be used to register the namespace {namespace}; please put all of your"
            " definitions in a single TORCH_LIBRARY block.  If you were trying to specify implementations, consider"
            " using TORCH_LIBRARY_IMPL (which can be duplicated).  If you really intended to define operators for a"
            " single namespace in a distributed way, you can use TORCH_LIBRARY_FRAGMENT to explicitly indicate this."
            "  Previous registration of TORCH_LIBRARY was {place}; latest registration was {place2}",
            "Only a single TORCH_LIBRARY can be used to register the namespace",
        ),
        Message("Only a single TORCH_LIBRARY can be used to register the namespace {namespace}"),
    ),
    'two TORCH_LIBRARY blocks (or Library(..., "DEF") objects) own one namespace, and only one may.',
    (
        'make all but one TORCH_LIBRARY_FRAGMENT (in Python: "FRAGMENT")',
        "where both places are the same, the library was loaded twice: from a copy, or linked into two libraries",
    ),
    ("OPL203", "OPL503", "OPL209", "OPL207"),
)

OVERRIDDEN_KERNEL = Kind(
    "overridden-kernel",
    Stage.LOAD,
    (
        Message(
            "Overriding a previously registered kernel for the same operator and the same dispatch key\n"
            "  operator: {schema}\n    {place}\n  dispatch key: {key}\n"
            "  previous kernel: {place2}\n       new kernel: {place3}",
            "Overriding a previously registered kernel for the same operator and the same dispatch key",
        ),
        Message("This is not allowed since there's already a kernel registered from python overriding {name}'s behavior"
                " for {key} dispatch key and {namespace} namespace."),
    ),
    "a kernel was registered where one stood already; the last one wins. Torch warns once in a process, so there may be"
    " others; what it calls the previous kernel is the operator's first one, which need not be the one replaced.",
    ("keep one of the kernels", "to replace one of torch's on purpose, do it once, and say so"),
    ("OPL204", "OPL213", "OPL503"),
    warning=True,
)  # fmt: skip

DUPLICATE_FALLBACK = Kind(
    "duplicate-fallback",
    Stage.LOAD,
    (
        Message(
            "Tried to register multiple backend fallbacks for the same dispatch key {key}; previous registration"
            " {place}, new registration {place2}",
            "Tried to register multiple backend fallbacks for the same dispatch key",
        ),
    ),
    "a key can have one backend fallback, and this one has it already: torch's own, or another library's.",
    ("keep one; for single operators register kernels at the key instead",),
    ("OPL205", "OPL503"),
)

OTHER_CPP_SIGNATURE = Kind(
    "other-cpp-signature",
    Stage.LOAD,
    (
        Message(
            "Mismatch in kernel C++ signatures\n  operator: {schema}\n    {place}\n  kernel 1: {text}\n"
            "    dispatch key: {key}\n    {place2}\n  kernel 2: {text2}\n    dispatch key: {key2}\n    {place3}",
            "Mismatch in kernel C++ signatures",
        ),
        Message("Mismatch in kernel C++ signatures"),
    ),
    "two kernels of one operator have different C++ types. Torch wants the very same, reference for reference.",
    ("give both kernels the same parameter and return types",),
    ("OPL102",),
)

SCHEMA_MISMATCH = Kind(
    "schema-mismatch",
    Stage.LOAD,
    (
        Message(
            "Inferred operator schema for a C++ kernel function doesn't match the expected function schema.\n"
            "  operator: {operator}\n  expected schema: {schema}\n    {place}\n  inferred schema: {schema2}\n"
            "    {place2}\n  reason: {reason}.",
            "Inferred operator schema for a C++ kernel function doesn't match the expected function schema.",
        ),
    ),
    "the C++ types of a kernel do not mean what the schema says: torch infers a schema from them and compares.",
    (
        "change the kernel's parameter, or the schema; `int` is int64_t, `float` is double, `SymInt` is c10::SymInt by"
        " value",
    ),
    ("OPL104", "OPL102", "OPL103"),
)

UNSUPPORTED_TYPE = Kind(
    "unsupported-kernel-type",
    Stage.COMPILE,
    (
        Message("INVALID TYPE: Only int8_t, int64_t and bool are supported as an integral argument type"),
        Message("INVALID TYPE: float is not supported as an argument type, use double instead"),
        Message("You tried to register a kernel with an unsupported {reason}.", "You tried to register a kernel with"),
        Message("You tried to register a kernel taking c10::SymInt by reference. Please accept it by value instead."),
    ),
    "a kernel has a parameter or a return of a type that the dispatcher does not take.",
    ("write int64_t for integers, double for floating point, std::string_view for strings, std::tuple for pairs",),
    ("OPL103", "OPL104", "OPL108"),
)  # fmt: skip

NO_SCHEMA = Kind(
    "no-schema",
    Stage.LOAD,
    (
        Message("Tried to parse a function schema but only the operator name was given"),
        Message('def("{name}"): Full schema string was not specified, and we couldn\'t infer schema either.',
                "Full schema string was not specified, and we couldn't infer schema either."),
        Message("Cannot infer operator schema for this kind of kernel in registration of operator {operator}."),
        Message("Cannot infer operator schema in registration of operator {operator}"),
    ),
    "an operator was defined by its name alone, and nothing that was given with it says what its schema is.",
    ("write the whole schema: `name(Tensor x) -> Tensor`",),
    ("OPL211", "OPL101", "OPL112"),
)  # fmt: skip

SCHEMA_FOR_A_NAME = Kind(
    "schema-for-a-name",
    Stage.LOAD,
    (Message("Tried to parse an operator name but function schema was given"),),
    "a kernel was registered with a whole schema where the operator's name is wanted.",
    ("write the name alone in impl(...); the schema belongs in def(...)",),
    ("OPL211", "OPL101"),
)

OTHER_NAMESPACE = Kind(
    "other-namespace",
    Stage.LOAD,
    (
        Message(
            "Explicitly provided namespace ({namespace}) in schema string does not match namespace of enclosing {macro}"
            " block ({namespace2}).  Move this definition to the (unique) TORCH_LIBRARY block corresponding to this"
            " namespace (and consider deleting the namespace from your schema string.)  (Error occurred while"
            " processing {macro} block at {where})",
            ") in schema string does not match namespace of enclosing",
        ),
        Message(
            'impl("{operator}", ...): Explicitly provided namespace ({namespace}) in operator name does not match'
            " namespace of enclosing {macro} block ({text}).  Move this definition to the {macro} block corresponding"
            " to this namespace (and consider deleting the namespace from your schema string.)  (Error occurred while"
            " processing {macro} block at {where})",
            ") in operator name does not match namespace of enclosing",
        ),
    ),
    "a name is written with a namespace, in a block of another one.",
    ("leave the namespace out of the name, or move the line to a block of that namespace",),
    ("OPL206", "OPL208"),
)

MISPLACED = Kind(
    "misplaced-registration",
    Stage.LOAD,
    (
        Message(
            'def("{name}"): Cannot define an operator inside of a {macro} block.  All def()s should be placed in the'
            " (unique) TORCH_LIBRARY block for their namespace.  (Error occurred while processing {macro} block at"
            " {where})",
            "All def()s should be placed in the (unique) TORCH_LIBRARY block for their namespace.",
        ),
        Message(
            'class_("{text}"): Cannot define a class inside of a TORCH_LIBRARY_IMPL block.  All class_()s should be'
            " placed in the (unique) TORCH_LIBRARY block for their namespace.  (Error occurred at {where})",
            "Cannot define a class inside of a",
        ),
        Message(
            "fallback(...): Cannot define an operator inside of a {macro} block.  Did you mean to call this function"
            " inside a TORCH_LIBRARY_IMPL block?  (Error occurred while processing {macro} block at {where})",
            "Did you mean to call this function inside a TORCH_LIBRARY_IMPL block?",
        ),
        Message(
            "fallback(...): Fallback functions which apply to only a single namespace (you specified {namespace}) are"
            " not supported.  If you intended to apply this fallback function globally, please define a separate block:"
            " {text} (Error occurred while processing {macro} block at {where})",
            "Fallback functions which apply to only a single namespace",
        ),
        Message('Fallback can only be registered using library fragment on the global namespace "_" but it is'
                " {namespace}"),
        Message(
            'impl("{name}", ...): Explicitly provided dispatch key ({key}) is inconsistent with the dispatch key of the'
            " enclosing {macro} block ({key2}).  Please declare a separate {macro} block for this dispatch key and move"
            " your impl() there.  (Error occurred while processing {macro} block at {where})",
            "is inconsistent with the dispatch key of the enclosing",
        ),
        Message("In operator registration: Tried to register multiple kernels with same dispatch key {key} for operator"
                " schema {operator}"),
        Message(
            'dispatch_key.has_value() INTERNAL ASSERT FAILED at "{text}":{number}, please report a bug to PyTorch.'
            " (Error occurred while processing {macro} block at {where})",
            "dispatch_key.has_value() INTERNAL ASSERT FAILED at",
        ),
    ),
    "a block was asked for what only another kind of block may do. `def` belongs in TORCH_LIBRARY or"
    " TORCH_LIBRARY_FRAGMENT, kernels for one key and fallbacks in TORCH_LIBRARY_IMPL; fallbacks are for all namespaces"
    " (`_`).",
    ("move the line to a block of the right kind",),
    ("OPL211", "OPL206", "OPL506"),
)  # fmt: skip

RESERVED_NAMESPACE = Kind(
    "reserved-namespace",
    Stage.LOAD,
    (
        Message("{namespace} is a reserved namespace. Please try creating a library with another name."),
        Message(
            "{macro}: cannot define {macro} with the wildcard namespace _ (every {macro} defines operators for a"
            " distinct namespace!) Did you mean to use TORCH_LIBRARY_IMPL instead?  (Error occurred while processing"
            " {macro} block at {where})",
            "with the wildcard namespace _ (every",
        ),
    ),
    "operators are defined in a namespace that torch keeps for itself; `_` stands for all, and only fallbacks have it.",
    ("take a namespace of your own, such as the name of the package",),
    ("OPL208",),
)

UNKNOWN_KEY = Kind(
    "unknown-dispatch-key",
    Stage.LOAD,
    (
        Message("could not parse dispatch key: {key}"),
        Message("Invalid dispatch key: {key}"),
        Message("Device type {word} cannot be overloaded at dispatch time"),
        Message("'{key}' is not a member of 'c10::DispatchKey'", "' is not a member of 'c10::DispatchKey'"),
        Message(
            "\N{LEFT SINGLE QUOTATION MARK}{key}\N{RIGHT SINGLE QUOTATION MARK} is not a member of"
            " \N{LEFT SINGLE QUOTATION MARK}c10::DispatchKey\N{RIGHT SINGLE QUOTATION MARK}"
        ),
        Message("no member named '{key}' in 'c10::DispatchKey'", "' in 'c10::DispatchKey'"),
    ),
    "this torch has no dispatch key of that name, or none that kernels can be registered to.",
    ("write the name of a key of this torch: CPU, CUDA, Meta, Autograd, CompositeExplicitAutograd, PrivateUse1, ...",),
    ("OPL210",),
)

ILLEGAL_NAME = Kind(
    "illegal-name",
    Stage.LOAD,
    (
        Message("'{word}' is not a legal overload name for aten operators", "is not a legal overload name"),
        Message("{word} is not a legal overload name", "is not a legal overload name"),
        Message(
            'Expected `qualname` to be of the form "namespace::name", but got {text}.', ahead=" The qualname passed"
        ),
    ),
    "the name of an operator is `namespace::name` or `namespace::name.overload`, of letters, digits and `_`; an"
    " overload is not called `default`, which is what the one without a name is called in Python.",
    ("change the name",),
    ("OPL211", "OPL101", "OPL208"),
)

PYSTUB = Kind(
    "python-module",
    Stage.LOAD,
    (
        Message(
            "Tried to register an python registration stub (pystub) for {operator} that specifies the Python module"
            " {name} but there already was a pystub that specifies the Python module {name2}. We will override"
        ),
        Message("Operator '{operator}' was defined in C++ and has a Python fake impl. In this situation, we require"
                " there to also be a companion C++ `m.set_python_module(\"{name}\")` call",
                "was defined in C++ and has a Python fake impl."),
        Message("Operator '{operator}' specified that its python fake impl is in the Python module '{name}' but it was"
                " actually found in '{name2}'.", "specified that its python fake impl is in the Python module"),
    ),
    "m.set_python_module(...) says in which Python module the fake of an operator is, and that is not where it is.",
    ("name the module that has the fake in m.set_python_module(...), before the m.def(...) that it is about",),
    ("OPL308",),
)  # fmt: skip

KINDS = (
    DUPLICATE_DEFINITION, DUPLICATE_NAMESPACE, OVERRIDDEN_KERNEL, DUPLICATE_FALLBACK, OTHER_CPP_SIGNATURE,
    SCHEMA_MISMATCH, UNSUPPORTED_TYPE, NO_SCHEMA, SCHEMA_FOR_A_NAME, OTHER_NAMESPACE, MISPLACED, RESERVED_NAMESPACE,
    UNKNOWN_KEY, ILLEGAL_NAME, PYSTUB,
)  # fmt: skip
