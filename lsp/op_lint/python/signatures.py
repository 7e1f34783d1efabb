"""The signatures of Python functions: as facts, and as `inspect` would give them to torch."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from op_lint.facts import Place, PythonFunction, PythonParameter
from op_lint.python.annotations import NotKnownError, Objects
from op_lint.python.infer import RETURN, Evaluate
from op_lint.python.render import render
from op_lint.python.source import SourceFile
from op_lint.python.values import Function, FunctionNode, Imported, Scope

_KINDS = {
    "positional": inspect.Parameter.POSITIONAL_ONLY,
    "any": inspect.Parameter.POSITIONAL_OR_KEYWORD,
    "args": inspect.Parameter.VAR_POSITIONAL,
    "keyword": inspect.Parameter.KEYWORD_ONLY,
    "kwargs": inspect.Parameter.VAR_KEYWORD,
}


class Slot(msgspec.Struct, frozen=True):
    """A parameter in the syntax tree; `kind` as in `PythonParameter`."""

    arg: ast.arg
    kind: str
    default: ast.expr | None = None


def slots(node: FunctionNode) -> Iterator[Slot]:
    """The parameters of a function, in order."""
    arguments = node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [*[None] * (len(plain) - len(arguments.defaults)), *arguments.defaults]
    for index, (arg, default) in enumerate(zip(plain, defaults, strict=True)):
        yield Slot(arg, "positional" if index < len(arguments.posonlyargs) else "any", default)
    if arguments.vararg:
        yield Slot(arguments.vararg, "args")
    for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield Slot(arg, "keyword", default)
    if arguments.kwarg:
        yield Slot(arguments.kwarg, "kwargs")


def describe(function: Function) -> PythonFunction | None:
    """A function as a fact, a method of an object without its `self`; None where its source is not at hand."""
    node, source, scope = function.node, function.source, function.scope
    if node is None or function.described is not None:
        return function.described
    returns = None if isinstance(node, ast.Lambda) else node.returns
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    parameters = tuple(_parameter(slot, source, scope) for slot in slots(node))
    return PythonFunction(
        function.name,
        function.place,
        source.name_place(node),
        parameters if function.receiver is None else parameters[1:],
        None if returns is None else _annotation(returns, scope),
        None if returns is None else source.place(returns),
        tuple(render(decorator, scope) for decorator in decorators),
    )


def _parameter(slot: Slot, source: SourceFile, scope: Scope) -> PythonParameter:
    annotation = slot.arg.annotation
    whole = source.place(slot.arg)
    end = whole.start + len(slot.arg.arg.encode(source.encoding, "replace"))
    return PythonParameter(
        slot.arg.arg,
        slot.kind,
        Place(whole.path, whole.line, whole.start, end),
        None if annotation is None else _annotation(annotation, scope),
        None if slot.default is None else render(slot.default, scope),
        None if annotation is None else source.place(annotation),
    )


def _annotation(node: ast.expr, scope: Scope) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return render(ast.parse(node.value, "<string>", "eval").body, scope.module())
        except (SyntaxError, ValueError):
            return node.value
    return render(node, scope)


@dataclass(frozen=True, slots=True)
class Inspected:
    """A signature made of objects, how to evaluate the strings in it, and the objects' maker."""

    signature: inspect.Signature
    evaluate: Evaluate
    objects: Objects


def inspected(function: Function) -> Inspected:
    """The signature of a function as `inspect.signature` gives it. Raises NotKnownError where it is not known."""
    if function.decorated:
        raise NotKnownError
    objects = Objects(function.source.path)
    if function.described is not None:
        scope = _canonical_scope()
        signature = _described_signature(function.described, objects, scope)
        return Inspected(signature, lambda text: objects.evaluated(text, scope), objects)
    module = function.scope.module()
    return Inspected(_signature(function, objects), lambda text: objects.evaluated(text, module), objects)


def _signature(function: Function, objects: Objects) -> inspect.Signature:
    node = function.node
    if node is None:
        raise NotKnownError
    parameters = [_inspected_parameter(slot, function, objects) for slot in slots(node)]
    if function.receiver is not None:
        parameters = parameters[1:]
    returns: object = inspect.Signature.empty
    if not isinstance(node, ast.Lambda) and node.returns is not None:
        returns = _object(node.returns, function, objects)
    return inspect.Signature(parameters, return_annotation=returns, __validate_parameters__=False)


def _inspected_parameter(slot: Slot, function: Function, objects: Objects) -> inspect.Parameter:
    annotation: object = inspect.Parameter.empty
    if slot.arg.annotation is not None:
        annotation = _object(slot.arg.annotation, function, objects)
    default: object = inspect.Parameter.empty
    if slot.default is not None:
        default = _default(slot, function, objects)
    return inspect.Parameter(slot.arg.arg, _KINDS[slot.kind], default=default, annotation=annotation)


def _object(node: ast.expr, function: Function, objects: Objects) -> object:
    """The object that an annotation is when the function is defined."""
    if function.source.postponed:
        return ast.unparse(node)
    try:
        return objects.annotation(node, function.scope)
    except NotKnownError:
        raise
    except Exception as error:  # the module would not get beyond the definition
        raise NotKnownError from error


def _default(slot: Slot, function: Function, objects: Objects) -> object:
    value = function.defaults.get(slot.arg.arg)
    if value is None:
        raise NotKnownError
    try:
        return objects.object_of(value)
    except NotKnownError:
        raise
    except Exception as error:  # the module would not get beyond the definition
        raise NotKnownError from error


def _described_signature(described: PythonFunction, objects: Objects, scope: Scope) -> inspect.Signature:
    parameters = [
        inspect.Parameter(
            parameter.name,
            _KINDS[parameter.kind],
            default=_written(parameter.default, objects, scope),
            annotation=_written(parameter.annotation, objects, scope),
        )
        for parameter in described.parameters
    ]
    returns = _written(described.returns, objects, scope)
    return inspect.Signature(parameters, return_annotation=returns, __validate_parameters__=False)


def _written(text: str | None, objects: Objects, scope: Scope) -> object:
    """The object that a text in canonical form is."""
    if text is None:
        return inspect.Parameter.empty
    try:
        node = ast.parse(text, "<string>", "eval").body
        if isinstance(node, ast.UnaryOp | ast.List | ast.Dict):
            return ast.literal_eval(node)
        return objects.annotation(node, scope)
    except NotKnownError:
        raise
    except Exception as error:  # a text that is no object on its own
        raise NotKnownError from error


def _canonical_scope() -> Scope:
    """A scope in which texts in canonical form mean what they say."""
    scope = Scope("module")
    names = ("collections", "datetime", "decimal", "enum", "fractions", "math", "numbers", "torch", "types", "typing")
    scope.names.update({name: Imported(name) for name in (*names, "typing_extensions")})
    scope.opaque = True
    return scope


def culprit_place(function: PythonFunction, culprit: str | None) -> Place | None:
    """The place of the parameter or the return annotation that an inference blames."""
    if culprit == RETURN:
        return function.returns_place or function.name_place
    for parameter in function.parameters:
        if parameter.name == culprit:
            return parameter.annotation_place or parameter.place
    return None
