"""Kernels to fill in: the C++ or Python that an operator lacks, with the signature that its schema asks for."""

from __future__ import annotations

import keyword

from op_lint.facts import Definition, FileFacts, Language, OperatorName, Place, PythonFunction
from op_lint.findings import Edit
from op_lint.program import Registered, local_name
from op_lint.schema.cpp_meaning import cpp_argument, cpp_return
from op_lint.schema.model import Argument, Device, Kind, Schema, Value
from op_lint.schema.stable import stable_type
from op_lint.server.snapshot import Snapshot

_PLAIN = frozenset({
    Kind.INT, Kind.SYM_INT, Kind.FLOAT, Kind.COMPLEX, Kind.BOOL, Kind.STRING, Kind.NUMBER, Kind.DEVICE,
})  # fmt: skip
"""The kinds whose default values Python writes as schemas do; those of others are numbers of torch's own."""


def cpp_kernel(snapshot: Snapshot, definition: Registered[Definition], schema: Schema, key: str) -> Edit | None:
    """A kernel to fill in and its registration, after the block that defines the operator; None where none fits."""
    unit = definition.unit
    body, namespace = unit.body, unit.namespace
    if body is None or namespace is None or unit.namespace_macro is not None:
        return None
    head = _stable_head(schema) if unit.stable else _head(schema)
    if head is None:
        return None
    returns, parameters = head
    text = snapshot.text(body.path)
    if text.data[body.end - 1 : body.end] != b"}":
        return None  # a block that a macro closes
    name = local_name(definition.fact.operator)
    function = f"{name.replace('.', '_')}_{key.lower()}"
    macro, given, refusal = "TORCH_LIBRARY_IMPL", f"&{function}", "TORCH_CHECK"
    if unit.stable:
        macro, given, refusal = f"STABLE_{macro}", f"TORCH_BOX({given})", f"STD_{refusal}"
    written = (
        f"\n\n{returns} {function}({', '.join(parameters)}) {{\n"
        f'  {refusal}(false, "{namespace}::{name} has no {key} kernel yet");\n}}\n\n'
        f'{macro}({namespace}, {key}, m) {{\n  m.impl("{name}", {given});\n}}'
    )
    return Edit(Place(body.path, text.line_of(body.end), body.end, body.end), written)


def _head(schema: Schema) -> tuple[str, list[str]] | None:
    """The return type and the parameters of a kernel; None where some type has no C++ type."""
    parameters = []
    for argument in schema.arguments:
        type_ = cpp_argument(argument)
        if type_ is None:
            return None
        parameters.append(f"{type_} {argument.name}")
    returns = cpp_return(tuple(each.type for each in schema.returns))
    if returns is None:
        return None
    if returns == "at::Tensor" and any(each.is_written for each in schema.returns):
        returns = "at::Tensor&"
    return returns, parameters


def _stable_head(schema: Schema) -> tuple[str, list[str]] | None:
    """The same for a kernel of the stable ABI, whose parameters are values."""
    types = [stable_type(argument.type) for argument in (*schema.arguments, *schema.returns)]
    if None in types:
        return None
    count = len(schema.arguments)
    parameters = [f"{type_} {each.name}" for type_, each in zip(types[:count], schema.arguments, strict=True)]
    returned = [str(type_) for type_ in types[count:]]
    if len(returned) > 1:
        return f"std::tuple<{', '.join(returned)}>", parameters
    return (returned[0] if returned else "void"), parameters


def python_fake(snapshot: Snapshot, definition: Registered[Definition], schema: Schema) -> Edit | None:
    """A fake to fill in. For a definition in Python it stands after it; for one in C++ in the file of its other fakes.

    None where no Python file of the project has to do with the operator, and where its arguments cannot be written.
    """
    parameters = _python_parameters(schema)
    if parameters is None:
        return None
    operator = definition.fact.operator
    if definition.fact.language is Language.PYTHON:
        path = definition.place.path
        offset, indent = _behind(snapshot, definition.fact)
    else:
        found = _file_for(snapshot, operator)
        if found is None:
            return None
        path, offset, indent = found, len(snapshot.text(found).data), ""
    data = snapshot.text(path).data
    lines = [
        f'@torch.library.register_fake("{operator}")',
        f"def _({', '.join(parameters)}):",
        f'    raise NotImplementedError("write here what {operator} returns: shape, dtype and device, no data")',
    ]
    if not _has_torch(snapshot.files[path]):
        lines.insert(0, "import torch\n")
    gap = "\n" if data[:offset].endswith((b"\n", b"\r")) else "\n\n"
    written = gap + "\n" + "\n".join(indent + line if line else line for line in lines) + "\n"
    line = snapshot.text(path).line_of(offset)
    return Edit(Place(path, line, offset, offset), written)


def _python_parameters(schema: Schema) -> list[str] | None:
    written: list[str] = []
    is_keyword = False
    for argument in schema.arguments:
        if keyword.iskeyword(argument.name) or not argument.name.isidentifier():
            return None
        if argument.keyword_only and not is_keyword:
            is_keyword = True
            written.append("*")
        default = ""
        if argument.default is not None:
            literal = _literal(argument, argument.default.value)
            if literal is None:
                return None
            default = f"={literal}"
        written.append(argument.name + default)
    return written


def _literal(argument: Argument, value: Value) -> str | None:
    """A default value in Python; None for what only torch has a name for."""
    kind = argument.type
    while kind.elements:
        kind = kind.elements[0]
    if isinstance(value, Device):
        return f"torch.device({value.name!r})"
    if value is not None and kind.kind not in _PLAIN:
        return None
    return repr(list(value) if isinstance(value, tuple) else value)


def _behind(snapshot: Snapshot, fact: Definition) -> tuple[int, str]:
    """Where something can be written behind a definition in Python: behind the function that it decorates, or its line.

    With the indentation that is needed there.
    """
    text = snapshot.text(fact.place.path)
    start = text.line_starts[fact.place.line - 1]
    line = text.line_text(fact.place.line)
    indent = line[: len(line) - len(line.lstrip())]
    end = fact.place.end
    if text.data[start : fact.place.start].strip() == b"@":
        function = _decorated(snapshot.files[fact.place.path], fact.place)
        end = function.place.end if function is not None else end
    newline = text.data.find(b"\n", end)
    return (newline + 1 if newline >= 0 else len(text.data)), indent


def _decorated(facts: FileFacts, decorator: Place) -> PythonFunction | None:
    functions = facts.python.functions if facts.python else ()
    behind = [function for function in functions if function.place.start >= decorator.end]
    return min(behind, key=lambda function: function.place.start, default=None)


def _file_for(snapshot: Snapshot, operator: OperatorName) -> str | None:
    """The Python file that registers for the operator's namespace, else the first that loads or calls it."""
    program = snapshot.program
    namespace = operator.namespace
    registering = [
        each.place.path
        for each in program.implementations
        if each.fact.operator.namespace == namespace and each.fact.language is Language.PYTHON
    ]
    if registering:
        return registering[0]
    using = sorted(
        facts.path
        for facts in program.files
        if facts.python and any(use.operator.namespace == namespace for use in facts.python.uses)
    )
    return using[0] if using else None


def _has_torch(facts: FileFacts) -> bool:
    imports = facts.python.imports if facts.python else ()
    return any(each.name is None and each.bound == "torch" for each in imports)
