"""Completion: dispatch keys, operators, schema types, namespaces, kernels, rule codes; from the text as it is now."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from enum import Enum

import msgspec

from op_lint.documentation import summary
from op_lint.facts import Language, OperatorName, Parameter, Signature
from op_lint.files import language_of
from op_lint.kernels import parsed
from op_lint.naming import schema_of
from op_lint.program import Program
from op_lint.schema import infer
from op_lint.schema.cpp_meaning import cpp_argument
from op_lint.schema.cpp_text import read_type
from op_lint.schema.model import Schema
from op_lint.server.context import Around, brackets_open, string_around
from op_lint.server.markdown import counting
from op_lint.server.snapshot import Snapshot
from op_lint.text import SourceText


class ItemKind(str, Enum):
    """What is offered."""

    KEY = "key"
    OPERATOR = "operator"
    TYPE = "type"
    NAMESPACE = "namespace"
    KERNEL = "kernel"
    RULE = "rule"


class Item(msgspec.Struct, frozen=True):
    """One offer; `detail` is a line about it, `rank` its place among the others.

    `key` is the dispatch key, `operator` the operator that it means: then its schema begins the detail.
    """

    label: str
    kind: ItemKind
    detail: str
    rank: int
    key: str | None = None
    operator: OperatorName | None = None


class Offer(msgspec.Struct, frozen=True):
    """What fits at a position: bytes `start` to the cursor are replaced by an item's label.

    `is_whole` is False where there is more: then the client asks again with the next letter.
    """

    items: tuple[Item, ...]
    start: int
    is_whole: bool = True


_MOST = 100
"""More than this nobody reads, and every editor would have to sort; with the next letter the client asks again."""

_NEAR = 400
"""Bytes before the cursor in which a call begins."""

_STEP = 4_096
"""Bytes that are searched at once for the block around the cursor."""

_WORD = re.compile(rb"\w*$")
_RULE_WORD = re.compile(rb"[\w-]*$")
_OPERATOR_WORD = re.compile(rb"[\w.]*$")
_QUALIFIED_WORD = re.compile(rb"[\w.:]*$")
_TYPE_WORD = re.compile(rb"\w*(?:\([\w!|]*\)?)?(?:\[\d*\]?)?\??$")
_CODES = re.compile(rb"op-lint:[ \t]*ignore(?:-file)?\[[^\]\r\n]*$")
_OPS = re.compile(rb"torch\.ops\.(?:(\w+)\.)?(?:(\w+)\.)?\w*$")
_KEY = re.compile(rb"(?:DispatchKey::|torch::dispatch\s*\(\s*)\w*$")
_DEVICE = re.compile(rb"\b(?:torch|at|c10)::k?\w*$")
_IMPL = re.compile(rb"(?:\.|->)\s*impl\s*\(\s*$")
_DEF = re.compile(rb"(?:(?:\.|->)\s*def\s*\(\s*|\bdefine\s*\(\s*)(?:torch::schema\s*\(\s*)?[rR]?$")
_KERNEL = re.compile(
    rb"(?:\.|->)\s*(?:impl|def)\s*\(\s*\"((?:[^\"\\\n]|\\.)*)\"\s*,\s*(?:[\w:]*\bk?[A-Z]\w*\s*,\s*)?"
    rb"(?:torch::dispatch\s*\([\w:\s]+,\s*)?(?:&|TORCH_FN\s*\(\s*|TORCH_BOX\s*\(\s*&?)?\w*$"
)
_NAMES_OPERATOR = re.compile(
    rb"\b(?:register_fake|impl_abstract|register_autograd|register_kernel|register_vmap|impl|opcheck|get_ctx)\s*\(\s*$"
)
_IN_LIBRARY = re.compile(rb"\b(\w+)\.(?:impl|_impl_with_aoti_compile)\s*\(\s*$|\bimpl\s*\(\s*(\w+)\s*,\s*$")
_PYTHON_KEY = re.compile(rb"\bimpl\s*\([^()\n]*[\"'][^()\n]*,\s*$")
_LIBRARY = re.compile(rb"\bLibrary\s*\(\s*$")
_MADE = rb"\b%s\s*(?::[^=\n]*)?=\s*(?:[\w.]*\.)?Library\s*\(\s*[\"'](\w+)"
_FUNCTION = re.compile(
    rb"^[ \t]*(?:(?:static|inline|extern|TORCH_API)\s+)*([\w:<>, ]+?[\s&*]+)(\w+)\s*\(([^(){};]*)\)"
    rb"\s*(?:noexcept\s*)?[{;]",
    re.MULTILINE,
)
_NO_TYPES = frozenset({"return", "else", "new", "throw", "delete", "co_return"})

TYPES = (
    "Tensor", "Tensor?", "Tensor[]", "Tensor(a!)", "Tensor(a)", "int", "SymInt", "int[]", "SymInt[]", "float", "bool",
    "str", "Scalar", "ScalarType", "Device", "Layout", "MemoryFormat", "Tensor?[]", "Tensor(a!)[]",
    "Tensor(a!)?", "int?", "SymInt?", "int[]?", "float?", "float[]", "bool?", "bool[]", "str?", "str[]", "Scalar?",
    "Scalar[]", "ScalarType?", "Device?", "Layout?", "MemoryFormat?", "Generator?",
)  # fmt: skip
"""The types of schemas, those that operators use most first."""

_NOTES = {
    "Tensor(a!)": "the operator writes to it",
    "Tensor(a)": "the result shares its memory",
    "SymInt": "a size that may be symbolic under torch.compile",
}


def completions(snapshot: Snapshot, path: str, text: SourceText, offset: int) -> Offer | None:
    """What fits at byte `offset` of a text as it is now; the snapshot may be of an earlier one."""
    offer = _offered(snapshot, path, text, offset)
    if offer is None:
        return None
    # Only now, since there may be thousands of which a hundred are shown.
    items = tuple(_with_schema(snapshot, item) for item in offer.items)
    return msgspec.structs.replace(offer, items=items)


def _with_schema(snapshot: Snapshot, item: Item) -> Item:
    if item.operator is None:
        return item
    schema = schema_of(snapshot.program, item.operator) or str(item.operator)
    return msgspec.structs.replace(item, detail=schema + item.detail)


def _offered(snapshot: Snapshot, path: str, text: SourceText, offset: int) -> Offer | None:
    line = text.line_of(offset)
    before = text.data[text.line_starts[line - 1] : offset]
    if _CODES.search(before):
        word = _RULE_WORD.search(before)
        return _offer(_rules(snapshot, by_name=word is not None and word[0][:1].islower()), offset, word)
    language = language_of(path) or Language.PYTHON
    around = string_around(text, offset, language)
    if around is not None:
        return _in_string(snapshot, text, offset, around)
    if language is Language.PYTHON:
        return _in_python(snapshot, before, offset)
    return _in_cpp(snapshot, path, text, before, offset)


def _in_python(snapshot: Snapshot, before: bytes, offset: int) -> Offer | None:
    ops = _OPS.search(before)
    if ops is None:
        return None
    namespace, name = (part.decode() if part else "" for part in ops.groups())
    if name:
        items = _overloads(snapshot, namespace, name)
    else:
        items = _packets(snapshot, namespace) if namespace else _namespaces(snapshot)
    return _offer(items, offset, _WORD.search(before))


def _in_cpp(snapshot: Snapshot, path: str, text: SourceText, before: bytes, offset: int) -> Offer | None:
    macro = re.search(_macro(snapshot) + rb"\s*\(\s*(?P<namespace>\w*)(?P<comma>\s*,\s*)?\w*$", before)
    if macro:
        is_key = macro["comma"] is not None and macro["macro"].endswith(b"_IMPL")
        if macro["comma"] is not None and not is_key:
            return None
        return _offer(_keys(snapshot) if is_key else _own_namespaces(snapshot), offset, _WORD.search(before))
    if _KEY.search(before):
        return _offer(_keys(snapshot), offset, _WORD.search(before))
    if _DEVICE.search(before) and brackets_open(text.data, offset):
        return _offer(_devices(snapshot), offset, _WORD.search(before))
    near = text.data[max(0, offset - _NEAR) : offset]
    kernel = _KERNEL.search(near)
    if kernel:
        items = _kernels(snapshot, path, text, offset, kernel[1].decode("utf-8", "replace"))
        return _offer(items, offset, _WORD.search(near))
    return None


def _in_string(snapshot: Snapshot, text: SourceText, offset: int, around: Around) -> Offer | None:
    opening = text.data[max(0, around.start - _NEAR) : around.start]
    if is_definition(text, around) and b"(" in around.before:
        typed = typed_type(around.before)
        if typed is None or len(typed) > len(around.piece):
            return None
        return _offer(_schema_types(), offset, _TYPE_WORD.search(typed))
    if _LIBRARY.search(opening):
        return _offer(_own_namespaces(snapshot), offset, _WORD.search(around.piece))
    library = _IN_LIBRARY.search(opening)
    namespace = _namespace_of(snapshot, text, offset, library) if library else None
    if namespace is not None and b"::" not in around.before:
        return _offer(_operators(snapshot, namespace), offset, _OPERATOR_WORD.search(around.piece))
    if _NAMES_OPERATOR.search(opening) or library:
        namespace_written, separator, _ = around.before.partition(b"::")
        if separator:
            items = _operators(snapshot, namespace_written.decode("utf-8", "replace"))
            return _offer(items, offset, _OPERATOR_WORD.search(around.piece))
        return _offer(_qualified(snapshot), offset, _QUALIFIED_WORD.search(around.piece))
    if _PYTHON_KEY.search(opening):
        return _offer(_keys(snapshot), offset, _WORD.search(around.piece))
    return None


def is_definition(text: SourceText, around: Around) -> bool:
    """Whether a string is the one that a definition gives as its schema."""
    return _DEF.search(text.data[max(0, around.start - _NEAR) : around.start]) is not None


def typed_type(before: bytes) -> bytes | None:
    """What is typed of a type at the end of `before`, the beginning of a schema; None where no type can stand."""
    arguments, arrow, returns = before.partition(b"->")
    rest = returns.lstrip().removeprefix(b"(") if arrow else arguments.partition(b"(")[2]
    depth = start = 0
    for index, byte in enumerate(rest):
        depth += (byte in b"([") - (byte in b")]")
        if byte == ord(",") and depth == 0:
            start = index + 1
    part = rest[start:].lstrip()
    return part if depth >= 0 and _TYPE_WORD.fullmatch(part) else None


def _offer(items: Iterator[Item], offset: int, word: re.Match[bytes] | None) -> Offer:
    """The items that fit what is typed; of too many the nearest, those that begin with it first."""
    typed = word.group() if word else b""
    letters = typed.decode("utf-8", "replace").lower()
    found = [item for item in items if _fits_letters(letters, item.label.lower())]
    if len(found) > _MOST:
        found.sort(key=lambda item: _distance(letters, item.label.lower()))
    shown = tuple(msgspec.structs.replace(item, rank=rank) for rank, item in enumerate(found[:_MOST]))
    return Offer(shown, offset - len(typed), len(found) <= _MOST)


def _distance(typed: str, label: str) -> int:
    """How far a label is from what is typed: it is that, begins with it, holds it, or only its letters."""
    if label == typed:
        return 0
    return 1 if label.startswith(typed) else 2 if typed in label else 3


def _fits_letters(typed: str, label: str) -> bool:
    """Whether the label holds the typed letters in their order, which is how editors filter."""
    if typed in label:
        return True
    letters = iter(label)
    return all(letter in letters for letter in typed)


def _namespace_of(snapshot: Snapshot, text: SourceText, offset: int, library: re.Match[bytes]) -> str | None:
    """The namespace of the library that a registration is made through: a Python object, or the block around it."""
    made = re.compile(_MADE % re.escape(library[1] or library[2]))
    objects = [*made.finditer(text.data, 0, offset)] if b"Library(" in text.data else []
    if objects:
        return objects[-1][1].decode("utf-8", "replace")
    return _namespace_around(snapshot, text, offset) if library[1] else None


def _macro(snapshot: Snapshot) -> bytes:
    """The macros that open a block: torch's, and those of the project."""
    own = {unit.macro for unit in snapshot.program.units if unit.language is Language.CPP and unit.macro.isidentifier()}
    names = "|".join(sorted(own)).encode()
    torch = rb"(?:STABLE_)?TORCH_LIBRARY(?:_FRAGMENT|_IMPL)?(?:_EXPAND)?"
    return rb"\b(?P<macro>" + torch + (b"|" + names if names else b"") + rb")\b"


def _namespace_around(snapshot: Snapshot, text: SourceText, offset: int) -> str | None:
    """The namespace of the last registration block that opens before `offset`, which is looked for backwards."""
    opens = re.compile(_macro(snapshot) + rb"\s*\(\s*(?P<namespace>\w+)")
    end = offset
    while end > 0:
        start = max(0, end - _STEP)
        found = [*opens.finditer(text.data, start, min(offset, end + _NEAR))]
        if found:
            return found[-1]["namespace"].decode("utf-8", "replace")
        end = start
    return None


def _rules(snapshot: Snapshot, *, by_name: bool) -> Iterator[Item]:
    """The rules by code; by name for who has begun to write one."""
    for rank, rule in enumerate(snapshot.packs.rules):
        label, other = (rule.name, rule.code) if by_name else (rule.code, rule.name)
        yield Item(label, ItemKind.RULE, f"{other}: {summary(rule)}", rank)


def _keys(snapshot: Snapshot) -> Iterator[Item]:
    """The keys, those that the project uses most first, then backends and alias keys before the rest."""
    program = snapshot.program
    used = Counter(unit.key for unit in program.units if unit.key)
    used.update(found.fact.key for found in program.implementations)
    known = list(used) if program.keys is None else [*program.keys.facts.aliases, *program.keys.runtime]
    common = {"CPU": 9, "CUDA": 8, "Meta": 7, "CompositeImplicitAutograd": 6, "CompositeExplicitAutograd": 5,
              "Autograd": 4, "PrivateUse1": 3, "AutogradCPU": 2, "AutogradCUDA": 1}  # fmt: skip
    ordered = sorted(known, key=lambda key: (-used[key], -common.get(key, 0), key))
    for rank, key in enumerate(ordered):
        yield Item(key, ItemKind.KEY, _key_detail(program, key, used[key]), rank, key)


def _key_detail(program: Program, key: str, count: int) -> str:
    kind = f"{program.keys.kind(key).value} key" if program.keys else "dispatch key"
    return f"{kind}, used {counting(count, 'time')} here" if count else kind


def _devices(snapshot: Snapshot) -> Iterator[Item]:
    """The constants that name a backend's key by its device, those that the project uses most first."""
    keys = snapshot.program.keys
    dense = set(keys.facts.devices.values()) if keys else set()
    for item in _keys(snapshot):
        if item.label in dense:
            yield msgspec.structs.replace(item, label=f"k{item.label}")


def _names(snapshot: Snapshot, namespace: str) -> tuple[OperatorName, ...]:
    own = snapshot.program.defined_in(namespace)
    return own or snapshot.program.installed_in(namespace)


def _operators(snapshot: Snapshot, namespace: str) -> Iterator[Item]:
    for rank, operator in enumerate(_names(snapshot, namespace)):
        name = f"{operator.name}.{operator.overload}" if operator.overload else operator.name
        yield Item(name, ItemKind.OPERATOR, "", rank, operator=operator)


def _packets(snapshot: Snapshot, namespace: str) -> Iterator[Item]:
    """The operators as Python has them: one name for all overloads."""
    overloads: dict[str, list[OperatorName]] = {}
    for operator in _names(snapshot, namespace):
        overloads.setdefault(operator.name, []).append(operator)
    for rank, (name, operators) in enumerate(overloads.items()):
        more = f" and {counting(len(operators) - 1, 'other overload')}" if operators[1:] else ""
        yield Item(name, ItemKind.OPERATOR, more, rank, operator=operators[0])


def _overloads(snapshot: Snapshot, namespace: str, name: str) -> Iterator[Item]:
    operators = [each for each in _names(snapshot, namespace) if each.name == name]
    for rank, operator in enumerate(operators):
        yield Item(operator.overload or "default", ItemKind.OPERATOR, "", rank, operator=operator)


def _qualified(snapshot: Snapshot) -> Iterator[Item]:
    program = snapshot.program
    for rank, operator in enumerate(each for each in program.operators if program.definitions_of(each)):
        yield Item(str(operator), ItemKind.OPERATOR, "", rank, operator=operator)


def _own_namespaces(snapshot: Snapshot) -> Iterator[Item]:
    count = Counter(unit.namespace for unit in snapshot.program.units if unit.namespace)
    for rank, (namespace, blocks) in enumerate(count.most_common()):
        yield Item(namespace, ItemKind.NAMESPACE, f"{counting(blocks, 'block')} here", rank)


def _namespaces(snapshot: Snapshot) -> Iterator[Item]:
    program = snapshot.program
    own = {unit.namespace for unit in program.units if unit.namespace}
    own |= {definition.fact.operator.namespace for definition in program.definitions}
    installed = program.installed
    others = {name.partition("::")[0] for name in installed.operators} if installed else set()
    for rank, namespace in enumerate((*sorted(own), *sorted(others - own))):
        detail = "defined here" if namespace in own else "of the installed torch"
        yield Item(namespace, ItemKind.NAMESPACE, detail, rank)


def _schema_types() -> Iterator[Item]:
    for rank, name in enumerate(TYPES):
        schema = parsed(f"f({name} x) -> ()")
        assert isinstance(schema, Schema)
        written = cpp_argument(schema.arguments[0]) or ""
        note = _NOTES.get(name)
        yield Item(name, ItemKind.TYPE, f"{written}: {note}" if note else written, rank)


def _kernels(snapshot: Snapshot, path: str, text: SourceText, offset: int, written: str) -> Iterator[Item]:
    """The functions of the file and of the headers that it includes, those whose signature fits the operator first."""
    namespace = _namespace_around(snapshot, text, offset)
    name = written.partition("(")[0]
    schema = schema_of(snapshot.program, _operator(namespace or "", name))
    value = parsed(written if "(" in written else schema or "")
    facts = snapshot.files.get(path)
    texts = [text, *(snapshot.text(each.path) for each in (facts.includes if facts else ()))]
    functions = {function: signature for each in reversed(texts) for function, signature in _functions(each)}
    for rank, (function, signature) in enumerate(sorted(functions.items(), key=lambda each: not _fits(each[1], value))):
        fits = _fits(signature, value)
        detail = f"{'fits' if fits else 'does not fit'} the schema: {signature}"
        yield Item(function, ItemKind.KERNEL, detail if isinstance(value, Schema) else str(signature), rank)


def _operator(namespace: str, written: str) -> OperatorName:
    name, _, overload = written.partition(".")
    return OperatorName(namespace, name, overload)


def _fits(signature: Signature, schema: object) -> bool:
    if not isinstance(schema, Schema):
        return False
    inference = infer(signature)
    wanted = [each.type for each in schema.arguments]
    returns = [each.type for each in schema.returns]
    return [each.type for each in inference.arguments] == wanted and [
        each.type for each in inference.returns
    ] == returns


def _functions(text: SourceText) -> Iterator[tuple[str, Signature]]:
    """The functions that a text declares, as far as they can be read without the compiler."""
    for match in _FUNCTION.finditer(text.data):
        written = match[1].decode("utf-8", "replace").strip()
        if written.partition(" ")[0] in _NO_TYPES:
            continue
        returns = read_type(written)
        parameters = [read_type(part.strip()) for part in _split(match[3].decode("utf-8", "replace"))]
        if returns is not None and all(parameters):
            types = tuple(Parameter("", each[0]) for each in parameters if each)
            yield match[2].decode(), Signature(returns[0], types)


def _split(text: str) -> list[str]:
    """The parts of a parameter list: commas inside of `<>` do not part."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "<") - (letter == ">")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part.strip()]
