"""The vocabulary: every value that the readers make and the rest of op-lint passes on.

All values are frozen and carry no behaviour that needs a file, a compiler or torch. A *fact* is what one
file says, nothing more; merging facts of several files is the business of `op_lint.program`.

Units, everywhere in this module: offsets are **bytes** into the file as it is on disk (or in the editor's
buffer), 0-based, end exclusive; lines are 1-based. Columns do not exist here: `op_lint.text` makes them at
the edge. Paths are relative to the project root with `/`, or absolute for a file outside it.
"""

from __future__ import annotations

from enum import Enum

import msgspec

from op_lint.condition import ALWAYS, Condition


class Language(str, Enum):
    """The language of the source that a fact was read from."""

    CPP = "c++"
    PYTHON = "python"


class Place(msgspec.Struct, frozen=True, order=True, gc=False, array_like=True):
    """A range of a file: bytes `start` to `end` (exclusive); `line` is the 1-based line of `start`."""

    path: str
    line: int
    start: int
    end: int


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A run of a `Text` that was written in one token.

    `start` and `length` count characters of `Text.value`. `place` covers exactly the bytes between the
    quotes that this run came from. `steps` is empty where each ASCII character is one byte of source;
    otherwise it holds, per character, its byte offset from `place.start` (escapes, UTF-8).
    """

    start: int
    length: int
    place: Place
    steps: tuple[int, ...] = ()


class Text(msgspec.Struct, frozen=True, gc=False):
    """A string that is known statically, and where each part of it was written.

    `place` is the whole expression. `pieces` is empty where the origin of the characters is not known
    (a string built by the preprocessor, by a constant from another file, ...).
    """

    value: str
    place: Place
    pieces: tuple[Piece, ...] = ()

    def place_of(self, start: int, end: int) -> Place:
        """The source of characters `start` to `end` (exclusive) of `value`; `place` where unknown.

        Where the range spans several tokens, the part inside the first token is returned, so that a
        finding never underlines what lies between two literals.
        """
        for piece in self.pieces:
            if piece.start <= start < piece.start + piece.length or (start == end == piece.start + piece.length):
                stop = min(max(end, start), piece.start + piece.length)
                first = _source_offset(piece, start - piece.start)
                last = _source_offset(piece, stop - piece.start)
                return Place(piece.place.path, piece.place.line, first, max(first, last))
        return self.place


def _source_offset(piece: Piece, index: int) -> int:
    if not piece.steps:
        return piece.place.start + index
    return piece.place.start + piece.steps[index] if index < len(piece.steps) else piece.place.end


class CppType(msgspec.Struct, frozen=True, gc=False):
    """A C++ type as a tree, the same whether it was read with the overlay or with the real headers.

    `name` is the qualified name with type aliases seen through (`at::Tensor`, `std::optional`,
    `c10::ArrayRef`), except the fixed-width integer names (`int64_t`, ...) and `size_t`, which stay: `long` and
    `int64_t` are one type on Linux and two on Windows. A pointer is `*` with its pointee as only
    argument, an array `[]`, a function type `()` with the return type first. A type that could not be resolved
    (its header is missing) is `?` and keeps its `spelling`.
    `arguments` are template arguments without defaulted ones; a non-type argument is a `CppType` named
    by its value. `const` and `reference` (``""``, ``"&"``, ``"&&"``) qualify this level.
    """

    name: str
    arguments: tuple[CppType, ...] = ()
    const: bool = False
    reference: str = ""
    spelling: str = ""

    def __str__(self) -> str:
        if self.name == "*" and self.arguments:
            core = f"{self.arguments[0]}*" + (" const" if self.const else "")
        elif self.name == "[]" and self.arguments:
            core = ", ".join(str(a) for a in self.arguments[:1]) + "[]"
        elif self.name == "()" and self.arguments:
            core = f"{self.arguments[0]}({', '.join(str(a) for a in self.arguments[1:])})"
        elif self.name == "?":
            core = self.spelling or "?"
        else:
            core = self.name
            if self.arguments or self.name == "std::tuple":
                core += f"<{', '.join(str(a) for a in self.arguments)}>"
        if self.const and self.name not in ("*", "?"):
            core = f"const {core}"
        return core + self.reference


class Parameter(msgspec.Struct, frozen=True, gc=False):
    """One parameter of a kernel; `name` is empty where the declaration names none."""

    name: str
    type: CppType
    place: Place | None = None


class Signature(msgspec.Struct, frozen=True, gc=False):
    """A kernel's C++ signature.

    `noexcept` matters: the dispatcher's templates do not match a noexcept function (torch 2.13).
    """

    returns: CppType
    parameters: tuple[Parameter, ...]
    noexcept: bool = False
    place: Place | None = None

    def __str__(self) -> str:
        return f"{self.returns}({', '.join(str(p.type) for p in self.parameters)})"


class KernelKind(str, Enum):
    """What a registration puts at a key (the `kind` of `op-lint ops`)."""

    KERNEL = "kernel"
    FALLTHROUGH = "fallthrough"
    BOXED = "boxed"
    NOT_SUPPORTED = "not-supported"
    FAKE = "fake"
    AUTOGRAD = "autograd"


class Kernel(msgspec.Struct, frozen=True, gc=False):
    """The function given to `def`, `impl` or `fallback`.

    `name` is the function's qualified name (`ns::f`), `<lambda>` for a lambda, the expression's text where
    nothing better is known. `signature` is None where it is not known (a boxed kernel, a wrapper, an
    undeclared function). `declared` is the declaration that was seen, `defined` the definition, where there is
    one in what was read. `wrapped` says that the function goes through an adapter with types of its own; then
    `signature` is the adapter's, or None. `stable` marks `TORCH_BOX` (the stable ABI, torch >= 2.10).
    """

    kind: KernelKind
    name: str
    place: Place
    signature: Signature | None = None
    declared: Place | None = None
    defined: Place | None = None
    wrapped: bool = False
    stable: bool = False

    @property
    def word(self) -> str:
        """The function's name; what kind of kernel it is where it has none, or Python's name for nobody, `_`."""
        return self.name if self.name not in ("", "_") else self.kind.value


class UnitKind(str, Enum):
    """How a registration unit registers."""

    LIBRARY = "TORCH_LIBRARY"
    FRAGMENT = "TORCH_LIBRARY_FRAGMENT"
    IMPL = "TORCH_LIBRARY_IMPL"
    LEGACY = "RegisterOperators"
    HELPER = "torch::Library&"
    PYTHON = "torch.library"


PY_IMPL = "py_impl"
"""The `macro` of a unit for kernels of `OpOverload.py_impl`, which only the dispatcher in Python finds."""


class Unit(msgspec.Struct, frozen=True):
    """A registration unit: one static initialiser (a block), or one Python `Library` object.

    `place` is what the dispatcher's dump names: the line where the outermost macro is used (not the
    line of `m.def`); for Python where the `Library` was made. `macro` is the macro as written there
    (`TORCH_LIBRARY_EXPAND`, a project's own) or `torch.library.Library`. `namespace` is None for the
    wildcard `_` and for units that name none (legacy). `namespace_macro` is the identifier given as namespace
    where it looks like a macro that nothing seen defines (`TORCH_EXTENSION_NAME`); then `namespace` is that
    symbol: equal in every file of one target and unequal to every literal name.
    `stable` marks the stable-ABI macros. `body` is the block's body, the bytes between its braces, where it is in
    this file. `function` is set on a `HELPER`: a function that takes a `torch::Library&` and that no block of its
    own file calls; namespace and key are those of the caller's block (`Delegation`).
    """

    id: int
    kind: UnitKind
    macro: str
    place: Place
    namespace: str | None
    key: str | None = None
    namespace_macro: str | None = None
    namespace_place: Place | None = None
    key_place: Place | None = None
    stable: bool = False
    language: Language = Language.CPP
    condition: Condition = ALWAYS
    body: Place | None = None
    spelled: Place | None = None
    function: str | None = None


class OperatorName(msgspec.Struct, frozen=True, order=True, gc=False, array_like=True):
    """`namespace::name.overload`; the overload is empty for the default one."""

    namespace: str
    name: str
    overload: str = ""

    def __str__(self) -> str:
        return f"{self.namespace}::{self.name}" + (f".{self.overload}" if self.overload else "")


class Definition(msgspec.Struct, frozen=True, gc=False):
    """An `m.def(...)`, `.op(...)` or Python `define`/`custom_op`: an operator comes into being.

    `schema` is the string as written, None where only a name was given (the dispatcher then infers the schema
    from the kernel, or refuses). `explicit_namespace` is the `ns` of a string that starts `ns::`. `place` is the call,
    `name_place` the operator's name inside the string. `spelled` is where the call's tokens were written, if
    that is a macro's body: then `place` is where the outermost macro is used. `key` is the dispatch key given
    with the kernel (`torch::dispatch(key, f)`), None for CompositeImplicitAutograd or no kernel.
    `runtime_guard` is a C++ or Python condition evaluated at run time around the call (`if (has_cuda())`). `calls` are
    the calls of C++ functions, the outermost first, by which the block comes to it; none where it stands in the block.
    """

    unit: int
    operator: OperatorName
    place: Place
    name_place: Place
    text: Text
    schema: Text | None = None
    kernel: Kernel | None = None
    key: str | None = None
    key_place: Place | None = None
    explicit_namespace: str | None = None
    tags: tuple[str, ...] = ()
    python_module: str | None = None
    alias_analysis: str | None = None
    language: Language = Language.CPP
    condition: Condition = ALWAYS
    runtime_guard: str | None = None
    spelled: Place | None = None
    calls: tuple[Place, ...] = ()


class Implementation(msgspec.Struct, frozen=True, gc=False):
    """An `m.impl(...)` or its Python kin: a kernel for an operator at a key.

    `key` is the dispatch key's own name as written (`CompositeImplicitAutograd` where none is given,
    also for the old `CatchAll`); it need not exist in any torch. `key_place` is where the key is written: in the
    call, or in the block's macro. `call_key` is the key given in the call itself, whatever the block's is.
    """

    unit: int
    operator: OperatorName
    key: str
    kernel: Kernel
    place: Place
    name_place: Place
    text: Text
    key_place: Place | None = None
    call_key: str | None = None
    explicit_namespace: str | None = None
    language: Language = Language.CPP
    condition: Condition = ALWAYS
    runtime_guard: str | None = None
    spelled: Place | None = None
    calls: tuple[Place, ...] = ()


class Fallback(msgspec.Struct, frozen=True):
    """An `m.fallback(...)`: a kernel for every operator that has none at `key` (None: no key is known)."""

    unit: int
    key: str | None
    kernel: Kernel
    place: Place
    namespace: str | None = None
    key_place: Place | None = None
    language: Language = Language.CPP
    condition: Condition = ALWAYS
    runtime_guard: str | None = None
    spelled: Place | None = None
    calls: tuple[Place, ...] = ()


class Unresolved(msgspec.Struct, frozen=True):
    """A registration that is there, but whose name, schema or key cannot be known from the source.

    `what` is `def`, `impl`, `fallback`, `unit` or, for anything, `statement` (see `BrokenStatement`); `namespace` is
    None where that is unknown too. `operator` is set where its name is known and only the schema or the key is not.
    Rules that conclude from absence ("nothing defines ...") must stay silent where this may be the missing one.
    """

    what: str
    reason: str
    place: Place
    unit: int | None = None
    namespace: str | None = None
    key: str | None = None
    language: Language = Language.CPP
    condition: Condition = ALWAYS
    operator: OperatorName | None = None


class Delegation(msgspec.Struct, frozen=True):
    """A block hands its library to `function` (a qualified name), whose body is in another file.

    `runtime_guard` is a condition evaluated at run time around the call.
    """

    unit: int
    function: str
    place: Place
    condition: Condition = ALWAYS
    runtime_guard: str | None = None
    calls: tuple[Place, ...] = ()


class ClassDefinition(msgspec.Struct, frozen=True):
    """An `m.class_<T>("Name")`: a TorchScript class, which is no operator and which a block for kernels refuses.

    `place` is the call. `runtime_guard` is a condition evaluated at run time around it.
    """

    unit: int
    place: Place
    language: Language = Language.CPP
    condition: Condition = ALWAYS
    runtime_guard: str | None = None


class Problem(msgspec.Struct, frozen=True):
    """Something about a file that op-lint could not read, said once per file and reason.

    `code` is a stable word (`missing-include`, `not-text`, `too-large`, `template-text`, `vanished`, `parse-error`,
    `syntax-error`, `timeout`, ...).
    """

    code: str
    message: str
    place: Place


class Suppression(msgspec.Struct, frozen=True):
    """A comment `op-lint: ignore[CODES] reason` (of a line) or `op-lint: ignore-file[CODES] reason`.

    `codes` is empty for all. `lines` are the 1-based lines it speaks for (empty: the whole file).
    """

    place: Place
    codes: tuple[str, ...]
    lines: tuple[int, ...]
    reason: str = ""
    code_places: tuple[Place, ...] = ()


class Include(msgspec.Struct, frozen=True):
    """A project file that reading this one also read, with the SHA-256 of what was read."""

    path: str
    digest: str


class RunTime(str, Enum):
    """When a piece of Python runs: as its module is imported, only if the module is the program, or in a function.

    What is in a function that its own module calls at import is `FUNCTION` all the same: `PythonFunction.at_import`.
    """

    IMPORT = "import"
    MAIN = "main"
    FUNCTION = "function"


class PythonParameter(msgspec.Struct, frozen=True):
    """A parameter of a Python function, in source order.

    `kind` is `positional` (before `/`), `any`, `keyword` (after `*`), `args` (`*name`) or `kwargs` (`**name`).
    `annotation` and `default` are in canonical form: names of modules, imports and aliases written out
    (`typing.Optional[torch.Tensor]` whatever the file calls them), None where there is none.
    """

    name: str
    kind: str
    place: Place
    annotation: str | None = None
    default: str | None = None
    annotation_place: Place | None = None


class PythonCall(msgspec.Struct, frozen=True):
    """A call of a function of the same file. `function` is the place of the calling function, None at module level."""

    place: Place
    run: RunTime
    function: Place | None = None
    in_loop: bool = False
    condition: Condition = ALWAYS


class ResultKind(str, Enum):
    """What a `return` gives, where the source tells.

    An argument itself, a view of one, a tensor just made in contiguous form, one that `contiguous()` made so unless it
    was already, a transposed view of either, `None`.
    """

    ARGUMENT = "argument"
    VIEW = "view"
    CONTIGUOUS = "contiguous"
    CONTIGUOUS_OR_SAME = "contiguous-or-same"
    TRANSPOSED = "transposed"
    NONE = "none"
    OTHER = "other"


class PythonResult(msgspec.Struct, frozen=True):
    """What one `return` of a function gives. `parameter` is the argument that is returned or viewed.

    `count` is the number of elements of a tuple or list that is written out, `elements` what they are.
    """

    place: Place
    kind: ResultKind
    parameter: str | None = None
    count: int | None = None
    elements: tuple[PythonResult, ...] = ()


class PythonFunction(msgspec.Struct, frozen=True):
    """A function that is given to torch, or in which something of these facts stands.

    `name` is Python's qualified name (`Class.method`, `f.<locals>.g`), `<lambda>` for a lambda. `place` reaches from
    `def` to the end of the body (`Kernel.defined` of the registrations that use it). `returns` is the return annotation
    in canonical form.
    `at_import` says that importing the module calls it, directly or through other functions of the file; `repeated`
    that it is called from several places or in a loop. `results` are those of a function that is given to torch.
    """

    name: str
    place: Place
    name_place: Place
    parameters: tuple[PythonParameter, ...] = ()
    returns: str | None = None
    returns_place: Place | None = None
    decorators: tuple[str, ...] = ()
    calls: tuple[PythonCall, ...] = ()
    at_import: bool = False
    repeated: bool = False
    results: tuple[PythonResult, ...] = ()


class Lifetime(str, Enum):
    """What keeps a Python `Library` object alive; its registrations vanish with it.

    `LOCAL`: nothing but a local variable. `DISCARDED`: nothing at all. `REBOUND`: a name that is given another value
    (or deleted) later on. `SCOPED`: a `with` block. `KEPT`: a module, an object, a container, a closure, a caller.
    """

    KEPT = "kept"
    LOCAL = "local"
    DISCARDED = "discarded"
    REBOUND = "rebound"
    SCOPED = "scoped"


class PythonLibrary(msgspec.Struct, frozen=True):
    """A `torch.library.Library` object. `kind` is `DEF`, `IMPL`, `FRAGMENT`, another text, or None where unknown.

    `unit` is None where the namespace is unknown. `name` is the variable that holds it first, `end` where a rebound
    name loses it. `function` is the place of the function that makes it, None at module level.
    """

    place: Place
    unit: int | None
    kind: str | None
    lifetime: Lifetime
    name: str | None = None
    end: Place | None = None
    function: Place | None = None
    condition: Condition = ALWAYS


class UseKind(str, Enum):
    """How Python names an operator.

    A call, a mere mention, a test whether it exists, a string given to torch, an assignment that puts something in
    its place (`torch.ops.ns.op = placeholder`).
    """

    CALL = "call"
    REFERENCE = "reference"
    GUARD = "guard"
    STRING = "string"
    ASSIGNMENT = "assignment"


class CallArgument(msgspec.Struct, frozen=True, array_like=True):
    """One argument of a call. `name` is None for a positional one.

    `kind` is the type of what is passed where the source shows it (`int`, `float`, `bool`, `str`, `None`, `list`,
    `tuple`, `dict`), `*` or `**` for unpacking, else empty.
    """

    name: str | None
    kind: str
    place: Place


class OperatorUse(msgspec.Struct, frozen=True, array_like=True):
    """A place that needs an operator to exist: `torch.ops.ns.op`, `getattr(torch.ops.ns, "op")`, a string.

    `packet` says that no overload is named (`torch.ops.ns.op`); `torch.ops.ns.op.default` names the one without
    a name. `api` is the function that a string (or a guarded name) is given to. `arguments` are those of a call.
    `caught` are the exceptions that a `try` around it in the same function catches.
    """

    operator: OperatorName
    packet: bool
    kind: UseKind
    place: Place
    name_place: Place
    run: RunTime
    api: str | None = None
    arguments: tuple[CallArgument, ...] | None = None
    caught: tuple[str, ...] = ()
    function: Place | None = None
    condition: Condition = ALWAYS


class LibraryLoad(msgspec.Struct, frozen=True):
    """A call that loads a binary with registrations, or builds and loads one.

    `api` is `torch.ops.load_library` and its kin. `path` is the first argument where it is known, `text` as it is
    written. `swallowed` says that an exception it raises goes no further: a `try` around it catches it (`caught`) and
    does not raise again. `silenced` are then the `except` clause that says nothing to anyone, and what it does instead.
    `checked` says that something in the file asks whether there is what the path is made of. `picked_from` is the
    search for files (`glob`) of whose results the path is whichever comes first, where nothing asks how many there are.
    """

    place: Place
    api: str
    path: str | None
    text: str
    run: RunTime
    caught: tuple[str, ...] = ()
    swallowed: bool = False
    function: Place | None = None
    condition: Condition = ALWAYS
    silenced: tuple[Place, ...] = ()
    checked: bool = False
    picked_from: Place | None = None


class PythonImport(msgspec.Struct, frozen=True, array_like=True):
    """An `import` of one module, or one name of a `from` import.

    `module` is as written, or, where it was relative, from the project's root (`pkg.sub`, `relative` set). `name` is
    what is imported from it (`*` for all), None for `import module`. `bound` is the name it gets in this file.
    Imports under `TYPE_CHECKING` are not there.
    """

    module: str
    name: str | None
    bound: str
    place: Place
    run: RunTime
    relative: bool = False
    caught: tuple[str, ...] = ()
    condition: Condition = ALWAYS


class PythonLoop(msgspec.Struct, frozen=True):
    """A loop in which something is registered; `iterations` is None where their number is unknown."""

    place: Place
    iterations: int | None = None


class SchemaInference(msgspec.Struct, frozen=True):
    """A schema that torch makes from a function's annotations, as torch 2.13's `infer_schema` does.

    `place` is the call that asks for it (`custom_op`, `infer_schema`), `function` the function. Exactly one of `schema`
    (without the operator's name) and `error` is set; `error` is the text of the exception, `error_place` the parameter
    or return annotation at fault. `exact` is False where the text may differ from torch's in the spelling of a type.
    `caught` are the exceptions that a `try` around the call in the same function catches.
    """

    place: Place
    function: Place
    schema: str | None = None
    error: str | None = None
    error_place: Place | None = None
    exact: bool = True
    caught: tuple[str, ...] = ()


class BrokenStatement(msgspec.Struct, frozen=True):
    """A statement that is not valid Python, in a file that was read without it.

    `outermost` is the statement of the module that it is in, or is. What is said of the rest of that may be wrong.
    """

    place: Place
    outermost: Place


class PythonFacts(msgspec.Struct, frozen=True):
    """What only Python files say, in source order.

    `module` is the dotted name that the path gives. `broken` are the statements that are not among these facts, but for
    their imports. `linkage` is what `op_lint.python.resolve` needs of this file
    for the others, in a form of its own; it is empty where they need nothing.
    """

    module: str
    imports: tuple[PythonImport, ...] = ()
    uses: tuple[OperatorUse, ...] = ()
    loads: tuple[LibraryLoad, ...] = ()
    libraries: tuple[PythonLibrary, ...] = ()
    functions: tuple[PythonFunction, ...] = ()
    loops: tuple[PythonLoop, ...] = ()
    inferences: tuple[SchemaInference, ...] = ()
    linkage: bytes = b""
    broken: tuple[BrokenStatement, ...] = ()


class FileFacts(msgspec.Struct, frozen=True):
    """All that one file says. Lists are in source order, so that two readings compare equal."""

    path: str
    language: Language
    units: tuple[Unit, ...] = ()
    definitions: tuple[Definition, ...] = ()
    implementations: tuple[Implementation, ...] = ()
    fallbacks: tuple[Fallback, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    delegations: tuple[Delegation, ...] = ()
    classes: tuple[ClassDefinition, ...] = ()
    problems: tuple[Problem, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    includes: tuple[Include, ...] = ()
    python: PythonFacts | None = None
