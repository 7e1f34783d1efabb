"""Completion: dispatch keys, operators, schema types, namespaces, kernels, rule codes; from the text as it is now."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from enum import Enum
from itertools import islice

import msgspec

from op_lint.documentation import summary
from op_lint.facts import OperatorName, Parameter, Signature
from op_lint.kernels import parsed
from op_lint.naming import schema_of
from op_lint.program import Program, local_name
from op_lint.schema import infer
from op_lint.schema.cpp_text import read_type
from op_lint.schema.model import Schema
from op_lint.server.context import Around, string_around
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
    """One offer; `detail` is a line about it, `rank` its place among the others."""

    label: str
    kind: ItemKind
    detail: str
    rank: int


class Offer(msgspec.Struct, frozen=True):
    """What fits at a position: bytes `start` to the cursor are replaced by an item's label.

    `is_whole` is False where there is more: then the client asks again with the next letter.
    """

    items: tuple[Item, ...]
    start: int
    is_whole: bool = True


_MOST = 100
"""More than this nobody reads, and every editor would have to sort; with the next letter the client asks again."""

_WORD = re.compile(rb"\w*$")
_OPERATOR_WORD = re.compile(rb"[\w.]*$")
_CODES = re.compile(rb"op-lint:[ \t]*ignore(?:-file)?\[[^\]\r\n]*$")
_OPS = re.compile(rb"torch\.ops\.(?:(\w+)\.)?(\w*)$")
_MACRO = re.compile(rb"\b(?:STABLE_)?TORCH_LIBRARY(_FRAGMENT|_IMPL)?(?:_EXPAND)?\s*\(\s*(\w*)(\s*,\s*)?(\w*)$")
_KEY = re.compile(rb"(?:DispatchKey::|torch::dispatch\s*\(\s*)\w*$")
_IMPL = re.compile(rb"\.\s*impl\s*\(\s*$")
_DEF = re.compile(rb"(?:\.\s*def\s*\(\s*|\bdefine\s*\(\s*)(?:(?:torch::schema|R)\s*\(?\s*)?$")
_KERNEL = re.compile(
    rb"\.\s*(?:impl|def)\s*\(\s*\"((?:[^\"\\\n]|\\.)*)\"\s*,\s*(?:&|TORCH_FN\s*\(\s*|TORCH_BOX\s*\(\s*&?)?\w*$"
)
_NAMES_OPERATOR = re.compile(
    rb"\b(?:register_fake|impl_abstract|register_autograd|register_kernel|register_vmap|impl|opcheck|get_ctx)\s*\(\s*$"
)
_PYTHON_KEY = re.compile(rb"\.impl\s*\([^()\n]*,\s*$")
_BLOCK = re.compile(rb"\b(?:STABLE_)?TORCH_LIBRARY(?:_FRAGMENT|_IMPL)?\s*\(\s*(\w+)\s*(?:,\s*(\w+))?")
_FUNCTION = re.compile(
    rb"^[ \t]*(?:static\s+|inline\s+)*([\w:<>, ]+?[\s&*]+)(\w+)\s*\(([^(){};]*)\)\s*(?:const\s*)?\{", re.MULTILINE
)
_NO_TYPES = frozenset({b"return ", b"else ", b"new ", b"throw "})

_TYPES = {
    "Tensor": "at::Tensor",
    "Tensor?": "std::optional<at::Tensor>",
    "Tensor[]": "at::TensorList",
    "Tensor(a!)": "at::Tensor&: the operator writes to it",
    "Tensor(a)": "at::Tensor: the result shares its memory",
    "int": "int64_t",
    "SymInt": "c10::SymInt: a size that may be symbolic under torch.compile",
    "int[]": "at::IntArrayRef",
    "SymInt[]": "c10::SymIntArrayRef",
    "float": "double",
    "bool": "bool",
    "str": "std::string",
    "Scalar": "at::Scalar",
    "ScalarType": "at::ScalarType",
    "Device": "at::Device",
    "Layout": "at::Layout",
    "MemoryFormat": "at::MemoryFormat",
    "Generator": "at::Generator",
}


def completions(snapshot: Snapshot, text: SourceText, offset: int) -> Offer | None:
    """What fits at byte `offset` of a text as it is now; the snapshot may be of an earlier one."""
    line = text.line_of(offset)
    before = text.data[text.line_starts[line - 1] : offset]
    if _CODES.search(before):
        word = re.search(rb"[\w-]*$", before)
        return _offer(_rules(snapshot), offset, word)
    around = string_around(text, offset)
    if around is not None:
        return _in_string(snapshot, text, offset, around)
    ops = _OPS.search(before)
    if ops:
        items = _operators(snapshot, ops[1].decode()) if ops[1] else _namespaces(snapshot)
        return _offer(items, offset, _WORD.search(before))
    macro = _MACRO.search(before)
    if macro:
        is_key = macro[3] is not None and macro[1] == b"_IMPL"
        if macro[3] is not None and not is_key:
            return None
        return _offer(_keys(snapshot) if is_key else _own_namespaces(snapshot), offset, _WORD.search(before))
    if _KEY.search(before):
        return _offer(_keys(snapshot), offset, _WORD.search(before))
    kernel = _KERNEL.search(before)
    if kernel:
        return _offer(
            _kernels(snapshot, text, offset, kernel[1].decode("utf-8", "replace")), offset, _WORD.search(before)
        )
    return None


def _in_string(snapshot: Snapshot, text: SourceText, offset: int, around: Around) -> Offer | None:
    opening = text.data[max(0, around.start - 400) : around.start - 1]
    namespace = _namespace_around(text, offset)
    if _IMPL.search(opening) and namespace is not None:
        return _offer(_operators(snapshot, namespace), offset, _OPERATOR_WORD.search(around.before))
    if _DEF.search(opening) and b"(" in around.before:
        return _offer(_schema_types(), offset, _WORD.search(around.before))
    if _PYTHON_KEY.search(opening):
        return _offer(_keys(snapshot), offset, _WORD.search(around.before))
    if _NAMES_OPERATOR.search(opening):
        namespace_written, separator, _ = around.before.partition(b"::")
        if separator:
            items = _operators(snapshot, namespace_written.decode("utf-8", "replace"))
            return _offer(items, offset, _OPERATOR_WORD.search(around.before))
        return _offer(_qualified(snapshot), offset, _OPERATOR_WORD.search(around.before))
    return None


def _offer(items: Iterator[Item], offset: int, word: re.Match[bytes] | None) -> Offer:
    typed = word.group() if word else b""
    letters = typed.decode("utf-8", "replace").lower()
    found = tuple(islice((item for item in items if _fits_letters(letters, item.label.lower())), _MOST + 1))
    return Offer(found[:_MOST], offset - len(typed), len(found) <= _MOST)


def _fits_letters(typed: str, label: str) -> bool:
    """Whether the label holds the typed letters in their order, which is how editors filter."""
    letters = iter(label)
    return all(letter in letters for letter in typed)


def _namespace_around(text: SourceText, offset: int) -> str | None:
    """The namespace of the last registration block that opens before `offset`."""
    last = None
    for match in _BLOCK.finditer(text.data, 0, offset):
        last = match
    return last[1].decode("utf-8", "replace") if last else None


def _rules(snapshot: Snapshot) -> Iterator[Item]:
    for rank, rule in enumerate(snapshot.packs.rules):
        yield Item(rule.code, ItemKind.RULE, f"{rule.name}: {summary(rule)}", rank)


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
        yield Item(key, ItemKind.KEY, _key_detail(program, key, used[key]), rank)


def _key_detail(program: Program, key: str, count: int) -> str:
    kind = f"{program.keys.kind(key).value} key" if program.keys else "dispatch key"
    return f"{kind}, used {count} times here" if count else kind


def _names(snapshot: Snapshot, namespace: str) -> tuple[OperatorName, ...]:
    own = snapshot.program.defined_in(namespace)
    return own or snapshot.program.installed_in(namespace)


def _operators(snapshot: Snapshot, namespace: str) -> Iterator[Item]:
    for rank, operator in enumerate(_names(snapshot, namespace)):
        detail = schema_of(snapshot.program, operator) or str(operator)
        yield Item(local_name(operator), ItemKind.OPERATOR, detail, rank)


def _qualified(snapshot: Snapshot) -> Iterator[Item]:
    program = snapshot.program
    for rank, operator in enumerate(each for each in program.operators if program.definitions_of(each)):
        yield Item(str(operator), ItemKind.OPERATOR, schema_of(program, operator) or "", rank)


def _own_namespaces(snapshot: Snapshot) -> Iterator[Item]:
    count = Counter(unit.namespace for unit in snapshot.program.units if unit.namespace)
    for rank, (namespace, blocks) in enumerate(count.most_common()):
        yield Item(namespace, ItemKind.NAMESPACE, f"{blocks} blocks here", rank)


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
    for rank, (name, meaning) in enumerate(_TYPES.items()):
        yield Item(name, ItemKind.TYPE, meaning, rank)


def _kernels(snapshot: Snapshot, text: SourceText, offset: int, written: str) -> Iterator[Item]:
    """The functions of the file, those whose signature fits the operator first."""
    namespace = _namespace_around(text, offset)
    name = written.partition("(")[0]
    schema = schema_of(snapshot.program, _operator(namespace or "", name))
    value = parsed(written if "(" in written else schema or "")
    functions = list(_functions(text))
    for rank, (function, signature) in enumerate(sorted(functions, key=lambda each: not _fits(each[1], value))):
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
    """The functions that are defined in a text, as far as they can be read without the compiler."""
    for match in _FUNCTION.finditer(text.data):
        if match[1] in _NO_TYPES:
            continue
        returns = read_type(match[1].decode("utf-8", "replace").strip())
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
