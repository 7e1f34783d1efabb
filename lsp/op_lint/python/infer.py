"""The schema that torch makes of a function's annotations: `torch.library.infer_schema`, as torch 2.13 has it."""

from __future__ import annotations

import collections.abc
import enum
import inspect
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from op_lint.python.annotations import (
    DEVICE,
    DTYPE,
    GENERATOR,
    NUMBER,
    SCRIPT_OBJECT,
    TENSOR,
    GroupName,
    NotKnownError,
)

RETURN = "return"
"""The name by which a `Failure` blames the return annotation; no parameter can be called so."""

_UNKNOWN = "unknown"
"""The `mutates_args` that stands for every tensor."""


@dataclass(frozen=True, slots=True)
class Inferred:
    """A schema without the operator's name: `(Tensor x) -> Tensor`."""

    schema: str


@dataclass(frozen=True, slots=True)
class Failure:
    """The exception that torch raises instead: its class, its text, and the parameter at fault (or `RETURN`)."""

    exception: str
    text: str
    culprit: str | None = None


class _RefusedError(Exception):
    """Torch raises ValueError with this text about this parameter."""

    def __init__(self, text: str, culprit: str | None = None) -> None:
        super().__init__(text)
        self.culprit = culprit


Evaluate = Callable[[str], object]
"""Evaluates a string annotation in the module of the function. Raises as Python does, or NotKnownError."""


def infer(
    signature: inspect.Signature, evaluate: Evaluate, mutates: object, tags: Iterable[str] = ()
) -> Inferred | Failure:
    """The schema of a function, or the exception that torch raises.

    Annotations and defaults are objects as `op_lint.python.annotations` makes them. `mutates` is the argument
    `mutates_args`, `tags` are the names of the tags. Raises NotKnownError where a string annotation is not known.
    """
    try:
        return Inferred(_Inference(signature, evaluate, mutates, frozenset(tags)).schema())
    except _RefusedError as refused:
        text = f"infer_schema(func): {refused} Got func with signature {signature})"
        return Failure("ValueError", text, refused.culprit)
    except (AssertionError, TypeError, ValueError) as error:  # what wrong arguments raise in torch, too
        return Failure(type(error).__name__, str(error))


class _Inference:
    """One inference. The order of the checks is torch's: the first that fails is what is raised."""

    def __init__(self, signature: inspect.Signature, evaluate: Evaluate, mutates: object, tags: frozenset[str]) -> None:
        self.signature = signature
        self.evaluate = evaluate
        self.inplace = "inplace" in tags
        self.out = "out" in tags
        if self.inplace and self.out:
            raise AssertionError("torch.Tag.inplace and torch.Tag.out are mutually exclusive")
        self.mutates: typing.Any = mutates if type(mutates) is str else tuple(typing.cast("Iterable[str]", mutates))
        self.first: tuple[str, str, str] | None = None
        self.outs: dict[str, str] = {}

    def schema(self) -> str:
        written: list[str] = []
        for index, parameter in enumerate(self.signature.parameters.values()):
            if parameter.kind is parameter.KEYWORD_ONLY and "*" not in written:
                self._check_kind(parameter)
                written.append("*")
            written.append(self._parameter(parameter, f"a{index}"))
        self._check_mutated_exist()
        if self.inplace:
            self._check_inplace()
        if self.out and not self.outs:
            raise _RefusedError("torch.Tag.out requires at least one mutable keyword-only Tensor argument.")
        return f"({', '.join(written)}) -> {self._returns()}"

    # Parameters

    def _check_kind(self, parameter: inspect.Parameter) -> None:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            text = "We do not support positional-only args, varargs, or varkwargs."
            raise _RefusedError(text, parameter.name)

    def _parameter(self, parameter: inspect.Parameter, alias: str) -> str:
        name = parameter.name
        self._check_kind(parameter)
        if parameter.annotation is parameter.empty:
            raise _RefusedError(f"Parameter {name} must have a type annotation.", name)
        spelled = self._type(parameter)
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and self.first is None:
            self.first = (name, spelled, alias)
        if self._is_mutated(name, spelled):
            spelled = f"Tensor({alias}!){spelled[len('Tensor') :]}"
            if self.out:
                self._add_out(parameter, spelled, alias)
        if parameter.default is parameter.empty:
            return f"{spelled} {name}"
        return f"{spelled} {name}={self._default(parameter)}"

    def _type(self, parameter: inspect.Parameter) -> str:
        annotation = self._unstringified(parameter.annotation, parameter.name)[0]
        if annotation in PARAMETER_TYPES:
            return PARAMETER_TYPES[annotation]
        opaque = _opaque(annotation)
        if opaque is not None:
            return opaque
        name = parameter.name
        if annotation == SCRIPT_OBJECT:
            raise _RefusedError(
                f"Parameter {name}'s type cannot be inferred from the schema as it is a ScriptObject. Please manually"
                " specify the schema using the `schema=` kwarg with the actual type of the ScriptObject.",
                name,
            )
        text = f"Parameter {name} has unsupported type {parameter.annotation}. "
        if getattr(annotation, "__origin__", None) is tuple:
            text += "We do not support Tuple inputs in schema. As a workaround, please try to use List instead. "
            text += _list_example(annotation)
        raise _RefusedError(f"{text}The valid types are: {PARAMETER_TYPES.keys()}.", name)

    def _is_mutated(self, name: str, spelled: str) -> bool:
        if type(self.mutates) is str:
            if self.mutates != _UNKNOWN:
                raise ValueError(
                    "mutates_args must either be a sequence of the names of the arguments that are mutated or the"
                    " string 'unknown'. "
                )
            return spelled.startswith("Tensor")
        if name not in self.mutates:
            return False
        if not spelled.startswith("Tensor"):
            text = f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated"
            raise _RefusedError(text, name)
        return True

    def _add_out(self, parameter: inspect.Parameter, spelled: str, alias: str) -> None:
        if parameter.kind is not parameter.KEYWORD_ONLY:
            raise _RefusedError("torch.Tag.out requires mutable arguments to be keyword-only.", parameter.name)
        if spelled != f"Tensor({alias}!)":
            raise _RefusedError("torch.Tag.out only supports mutable keyword-only Tensor arguments.", parameter.name)
        self.outs[parameter.name] = alias

    def _default(self, parameter: inspect.Parameter) -> str:
        default: object = parameter.default
        if default is None or isinstance(default, int | float | bool):
            return str(default)
        if isinstance(default, str | DEVICE):
            return f'"{default}"'
        if isinstance(default, DTYPE):
            return repr(default).removeprefix("torch.")
        raise _RefusedError(
            f"Parameter {parameter.name} has an unsupported default value type {type(default)}. Please file an issue on"
            " GitHub so we can prioritize this.",
            parameter.name,
        )

    def _check_mutated_exist(self) -> None:
        if type(self.mutates) is str and self.mutates == _UNKNOWN:
            return
        unseen = set(self.mutates) - set(self.signature.parameters)
        if unseen:
            raise _RefusedError(
                f"{unseen} in mutates_args were not found in the custom op's signature. mutates_args should contain the"
                " names of all args that the custom op mutates, or just the string 'unknown' if you don't know."
            )

    def _check_inplace(self) -> None:
        if self.first is None:
            raise _RefusedError("torch.Tag.inplace requires a positional Tensor argument.")
        name, spelled, _ = self.first
        if spelled != "Tensor":
            raise _RefusedError("torch.Tag.inplace requires the first positional argument to be a Tensor.", name)
        if type(self.mutates) is str or set(self.mutates) != {name}:
            raise _RefusedError(
                "torch.Tag.inplace requires mutates_args to contain exactly the first positional argument, got"
                f" {self.mutates}."
            )

    # Returns

    def _returns(self) -> str:
        annotation = self._unstringified(self.signature.return_annotation, RETURN)[0]
        if self.out:
            return self._out_returns(annotation)
        returns = _return_schema(annotation)
        if not self.inplace:
            return returns
        if returns != "Tensor":
            raise _RefusedError("torch.Tag.inplace requires the return annotation to be torch.Tensor.", RETURN)
        assert self.first is not None
        return f"Tensor({self.first[2]}!)"

    def _out_returns(self, annotation: object) -> str:
        expected = (TENSOR,) * len(self.outs)
        is_tuple = typing.get_origin(annotation) is tuple and typing.get_args(annotation) == expected
        if not (annotation is TENSOR if len(self.outs) == 1 else is_tuple):
            raise _RefusedError(
                "torch.Tag.out requires the return annotation to match the mutable keyword-only Tensor arguments"
                f" {tuple(self.outs)}.",
                RETURN,
            )
        aliased = [f"Tensor({alias}!)" for alias in self.outs.values()]
        return aliased[0] if len(aliased) == 1 else f"({', '.join(aliased)})"

    # Strings in annotations

    def _unstringified(self, annotation: typing.Any, culprit: str) -> tuple[typing.Any, bool]:
        """The annotation with strings in it evaluated, and whether there were any."""
        if isinstance(annotation, str):
            return self._evaluated(annotation, culprit), True
        origin = typing.get_origin(annotation)
        if origin:
            pairs = [self._unstringified(argument, culprit) for argument in typing.get_args(annotation)]
            if any(changed for _, changed in pairs):
                return types.GenericAlias(origin, tuple(argument for argument, _ in pairs)), True
        return annotation, False

    def _evaluated(self, text: str, culprit: str) -> object:
        problem = f"Unsupported type annotation {text}. It is not a type. "
        try:
            return self.evaluate(text)
        except NotKnownError:
            raise
        except NameError as error:
            raise _RefusedError(
                f"{problem}({error}). If you are using 'from __future__ import annotations', note that annotations are"
                " evaluated lazily as strings; make sure all types referenced in annotations are importable at module"
                " scope, not only inside a local function.",
                culprit,
            ) from None
        except Exception as error:  # any exception of the expression is what torch reports
            raise _RefusedError(f"{problem}({type(error).__name__}: {error})", culprit) from None


def _return_schema(annotation: typing.Any) -> str:
    if annotation is None:
        return "()"
    if annotation is inspect.Parameter.empty:
        raise _RefusedError("No return type annotation was provided. Please add one.", RETURN)
    if typing.get_origin(annotation) is not tuple:
        returned = _return_type(annotation)
        if returned is None:
            raise _unsupported_return(annotation)
        return returned
    types_ = [_return_type(argument) for argument in typing.get_args(annotation)]
    known = [spelled for spelled in types_ if spelled is not None]
    if len(known) != len(types_):
        raise _unsupported_return(annotation)
    inner = ", ".join(known)
    return f"(({inner}))" if len(known) == 1 else f"({inner})"


def _return_type(annotation: typing.Any) -> str | None:
    if annotation in _RETURN_TYPES:
        return _RETURN_TYPES[annotation]
    return _opaque(annotation) if annotation is GENERATOR else None


def _opaque(annotation: object) -> str | None:
    """The name of a class that torch itself registers as opaque, by value (enums) or by reference (generators)."""
    if not isinstance(annotation, type):
        return None
    if issubclass(annotation, enum.Enum):
        return "enum.Enum"
    return "torch._C.Generator" if issubclass(annotation, GENERATOR) else None


def _unsupported_return(annotation: object) -> _RefusedError:
    return _RefusedError(f"Return has unsupported type {annotation}. The valid types are: {_RETURN_TYPES}.", RETURN)


def _list_example(annotation: typing.Any) -> str:
    """The hint which list to use instead of a tuple, if that list is supported."""
    arguments = typing.get_args(annotation)
    item: typing.Any
    if not arguments:
        instead: typing.Any = list
    elif len(arguments) == 1 or (len(arguments) == 2 and arguments[1] is Ellipsis):
        item = arguments[0]
        instead = list[item]
    else:
        item = typing.Union[arguments]  # noqa: UP007 (of a tuple that is only known here)
        instead = list[item]
    return f"For example, {instead}.\n\n" if instead in PARAMETER_TYPES else "\n\n"


def _parameter_types() -> dict[typing.Any, str]:
    """The annotations that a parameter may have, in the order in which torch's errors list them."""
    table: tuple[tuple[typing.Any, str, bool, bool, bool], ...] = (
        # annotation, schema type, lists of it, lists of optional ones, optional lists
        (TENSOR, "Tensor", True, True, False),
        (int, "SymInt", True, False, True),
        (float, "float", True, False, True),
        (bool, "bool", True, False, True),
        (str, "str", False, False, False),
        (NUMBER, "Scalar", True, False, False),
        (DTYPE, "ScalarType", False, False, False),
        (DEVICE, "Device", False, False, False),
        (GroupName, "str", False, False, False),
    )
    result: dict[typing.Any, str] = {}
    for base, spelled, lists, lists_of_optional, optional_lists in table:
        optional: typing.Any = typing.Optional.__getitem__(base)  # `base | None` prints otherwise
        result |= {base: spelled, optional: f"{spelled}?"}
        if lists:
            result |= dict.fromkeys(_sequences(base), f"{spelled}[]")
        if lists_of_optional:
            result |= dict.fromkeys(_sequences(optional), f"{spelled}?[]")
        if optional_lists:
            result |= {typing.Optional.__getitem__(listed): f"{spelled}[]?" for listed in _sequences(base)}
    return result


def _sequences(item: typing.Any) -> list[typing.Any]:
    return [
        typing.Sequence[item],
        typing.List[item],  # noqa: UP006 (each prints in its own way)
        types.GenericAlias(collections.abc.Sequence, (item,)),
        types.GenericAlias(list, (item,)),
    ]


PARAMETER_TYPES = _parameter_types()
"""The schema type of each annotation that a parameter may have."""

_RETURN_TYPES: dict[typing.Any, str] = {
    TENSOR: "Tensor",
    typing.List[TENSOR]: "Tensor[]",  # type: ignore[valid-type]  # noqa: UP006
    list[TENSOR]: "Tensor[]",  # type: ignore[valid-type]
    int: "SymInt",
    float: "float",
    bool: "bool",
    NUMBER: "Scalar",
}
"""The schema type of each annotation that a function may return."""
