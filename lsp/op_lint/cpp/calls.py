"""A call that registers: what its arguments say."""

from __future__ import annotations

from collections.abc import Sequence

from op_lint.cpp.cursors import (
    alias_analysis,
    call_chain,
    enumerator,
    is_enum,
    is_tags,
    tag_names,
    type_name,
)
from op_lint.cpp.kernels import KernelReader
from op_lint.cpp.keys import given_key, is_key, key_of
from op_lint.cpp.libclang import Cursor, CursorKind
from op_lint.cpp.literals import LiteralReader, Lookup
from op_lint.cpp.recorder import Given, Recorder, Site
from op_lint.cpp.sources import SourceMap
from op_lint.facts import Kernel

PYTHON_MODULE = ("set_python_module", "impl_abstract_pystub")
METHODS = frozenset({"def", "impl", "impl_UNBOXED", "fallback", "op", *PYTHON_MODULE})
"""The methods of `torch::Library`, `StableLibrary` and `RegisterOperators` that say something about operators."""

LEGACY_TYPE = "c10::RegisterOperators"
_OPTIONS = f"{LEGACY_TYPE}::Options"
_REGISTER_OR_VERIFY = "_RegisterOrVerify"


class CallReader:
    """Reads the registering calls of one translation unit into the rows of `recorder`."""

    def __init__(self, sources: SourceMap, recorder: Recorder, literals: LiteralReader, kernels: KernelReader) -> None:
        self.sources, self.recorder, self.literals, self.kernels = sources, recorder, literals, kernels

    def read(self, method: str, arguments: Sequence[Cursor], site: Site, lookup: Lookup) -> None:
        """The call of `method` (one of `METHODS`) at `site`; `lookup` tells what names stand for there."""
        if method in PYTHON_MODULE:
            text = self.literals.text(arguments[0], lookup) if arguments else None
            if text is not None:
                self.recorder.set_python_module(site.unit, text.value)
        elif method == "def":
            self._definition(arguments, site, lookup)
        elif method in ("impl", "impl_UNBOXED"):
            self._implementation(arguments, site, lookup)
        elif method == "fallback" and arguments:
            self.recorder.fall_back(self._given(arguments[0], site, lookup), site)
        elif method == "op":
            self.legacy_op(arguments, site, lookup)

    def _definition(self, arguments: Sequence[Cursor], site: Site, lookup: Lookup) -> None:
        if not arguments:
            return
        text = self.literals.text(arguments[0], lookup)
        if text is None:
            self.recorder.unresolved_call("def", "the schema is not a constant", site)
            return
        given = None
        tags: tuple[str, ...] = ()
        for argument in arguments[1:]:
            if is_tags(argument):
                tags = tag_names(argument)
            elif given is None and not is_enum(argument, _REGISTER_OR_VERIFY):
                given = self._given(argument, site, lookup)
        self.recorder.define(text, given, tags, alias_analysis(arguments[0]), site)

    def _implementation(self, arguments: Sequence[Cursor], site: Site, lookup: Lookup) -> None:
        arguments = [argument for argument in arguments if not is_enum(argument, _REGISTER_OR_VERIFY)]
        if len(arguments) < 2:
            return
        text = self.literals.text(arguments[0], lookup)
        if text is None:
            self.recorder.unresolved_call("impl", "the operator's name is not a constant", site)
            return
        given = self._given(arguments[-1], site, lookup)
        if len(arguments) >= 3:
            given = self._at_key(given.kernel, arguments[1], lookup)
        self.recorder.implement(text, given, site)

    def _given(self, argument: Cursor, site: Site, lookup: Lookup) -> Given:
        """The kernel that an argument is, with the key of `torch::dispatch(key, f)` where it is one."""
        kernel = self.kernels.kernel(argument, site.place, lookup)
        for call in argument.walk():
            if call.kind == CursorKind.LAMBDA_EXPR:
                break
            if call.kind == CursorKind.CALL_EXPR and call.spelling == "dispatch":
                for part in call.children():
                    if part.is_expression and is_key(part.type):
                        return self._at_key(kernel, part, lookup)
        return Given(kernel)

    def _at_key(self, kernel: Kernel, argument: Cursor, lookup: Lookup) -> Given:
        """A kernel at the key that `argument` is."""
        key = key_of(argument, lookup)
        return Given(kernel, given_key(key), self.sources.place(argument), is_known=key is not None)

    # -- the legacy API

    def legacy_op(self, arguments: Sequence[Cursor], site: Site, lookup: Lookup) -> None:
        """`.op("ns::f(...)", &f)` and `.op("ns::f", options().schema(...).kernel<...>(key))`."""
        options = [argument for argument in arguments if type_name(argument.type) == _OPTIONS]
        others = [argument for argument in arguments if argument not in options]
        text = self.literals.text(others[0], lookup) if others else None
        kernels = [Given(self.kernels.kernel(others[1], site.place, lookup))] if len(others) > 1 else []
        analysis = None
        for method, values, call in (step for option in options for step in call_chain(option)):
            if method == "schema" and values:
                text = self.literals.text(values[0], lookup)
            elif method in ("kernel", "catchAllKernel"):
                kernels.append(self._legacy_kernel(call, values, site, lookup))
            elif method == "aliasAnalysis" and values:
                analysis = enumerator(values[0])
        if text is None:
            self.recorder.unresolved_call("def", "the schema is not a constant", site)
            return
        composite = kernels[0] if len(kernels) == 1 and kernels[0].key is None else None
        self.recorder.define(text, composite, (), analysis, site)
        for given in kernels if composite is None else ():
            self.recorder.implement(text, given, site)

    def _legacy_kernel(self, call: Cursor, arguments: Sequence[Cursor], site: Site, lookup: Lookup) -> Given:
        has_key = bool(arguments) and is_key(arguments[0].type)
        if len(arguments) > has_key:
            kernel = self.kernels.kernel(arguments[-1], site.place, lookup)
        else:
            kernel = self.kernels.template_argument(call, site.place, lookup)
        return self._at_key(kernel, arguments[0], lookup) if has_key else Given(kernel)
