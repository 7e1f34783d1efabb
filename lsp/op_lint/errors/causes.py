"""The causes of each kind of error, as far as the program shows them. What rules find is added by `diagnosis`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath

from op_lint.condition import ALWAYS, disjunction
from op_lint.dispatch.keys import AUTOGRAD, EXPLICIT, EXPLICIT_NON_FUNCTIONAL, IMPLICIT, KeyKind
from op_lint.errors import calls, checks, loading, python, registration, schemas
from op_lint.errors.case import Case, Site
from op_lint.errors.diagnosis import Cause, Certainty
from op_lint.errors.kind import Stage
from op_lint.facts import Definition, Implementation, KernelKind, Language, Place, Unit, UseKind
from op_lint.findings import Related
from op_lint.message import squeezed
from op_lint.program import Kernel, Registered, local_name
from op_lint.schema.parser import parse_schema

META = "Meta"
_MOST_SHOWN = 4


def causes(case: Case) -> tuple[Cause, ...]:
    """What in the program the error follows from; nothing where that is not known."""
    explain = _EXPLAINERS.get(case.error.kind.name, _places)
    return tuple(explain(case))


def _missing_kernel(case: Case) -> Iterator[Cause]:
    operator, key = case.operator, case.key
    if operator is None:
        return
    if not case.knows(operator):
        yield from _unknown(case)
        return
    there = tuple(_kernels_for(case, key)) if key is not None else ()
    for kernel in there:
        yield Cause(
            Certainty.CERTAIN if case.error.listed else Certainty.LIKELY,
            f"the sources register {_key_of(kernel)} kernel of `{operator}` here, and that process did not have it:"
            f" {_why_absent(case, kernel.unit, kernel)}",
            kernel.fact.name_place,
            (*_compiled_at(case, kernel), *_other_kernels(case, kernel)),
        )
    if there:
        return
    certainty = Certainty.LIKELY if case.program.may_be_implemented(operator) else Certainty.CERTAIN
    at = f"at {key}" if key is not None else "for this call"
    for defined in case.definitions[:_MOST_SHOWN]:
        nothing = "no kernel anywhere" if not case.implementations else f"no kernel {at}, and no composite one"
        yield Cause(
            certainty,
            f"`{operator}` is defined here, and the sources have {nothing}",
            defined.fact.name_place,
            _other_kernels(case, defined),
        )
    if not case.definitions:
        yield from _installed(case, at)


def _kernels_for(case: Case, key: str) -> Iterator[Kernel]:
    """The kernels in the sources that would run at a key, fallthroughs left out."""
    keys = case.tables.keys if case.tables is not None else None
    kind = keys.kind(key) if keys is not None and key in keys.runtime else None
    stand_ins = (AUTOGRAD, IMPLICIT) if kind is KeyKind.AUTOGRAD else (EXPLICIT_NON_FUNCTIONAL, EXPLICIT, IMPLICIT)
    for candidate in (key, *stand_ins):
        found = [each for each in case.kernels_at(candidate) if _runs(each)]
        if found:
            yield from found
            return


def _runs(kernel: Kernel) -> bool:
    return kernel.fact.kernel is not None and kernel.fact.kernel.kind is not KernelKind.FALLTHROUGH


def _key_of(kernel: Kernel) -> str:
    key = kernel.fact.key or IMPLICIT
    return f"{'an' if key[0] in 'AEIO' else 'a'} {key}"


def _other_kernels(case: Case, besides: Registered[Definition] | Registered[Implementation]) -> tuple[Related, ...]:
    """Where the operator is defined, and has its other kernels."""
    related = [
        Related(defined.fact.name_place, "the operator is defined here")
        for defined in case.definitions
        if defined is not besides
    ]
    related += [
        Related(each.fact.name_place, f"its {case.program.key(each.fact.key)} kernel")
        for each in case.implementations
        if each is not besides
    ]
    return tuple(related[:_MOST_SHOWN])


def _why_absent(case: Case, unit: Unit, registered: Registered[Definition] | Registered[Implementation]) -> str:
    """Why what the sources register may not have been in a process."""
    condition = registered.condition
    if condition != ALWAYS:
        return f"it is there only when `{condition}`"
    if registered.fact.runtime_guard:
        return f"it runs only if `{registered.fact.runtime_guard}`"
    if unit.language is Language.PYTHON:
        return _why_not_imported(case, registered.file)
    linking = case.program.linking
    if linking is None:
        return "the library with this file was not loaded yet, or was built without it, or from older sources"
    compiled = linking.targets_of(registered.file)
    if not compiled:
        return f"no target of the build files compiles {registered.file}"
    when = disjunction(each.condition for each in compiled)
    names = ", ".join(f"`{name}`" for name in dict.fromkeys(each.target.name for each in compiled))
    if when != ALWAYS:
        return f"{names} compiles {registered.file} only when `{when}`"
    return f"{names} compiles {registered.file}: it was not loaded yet, or was built from older sources"


def _compiled_at(case: Case, registered: Registered[Definition] | Registered[Implementation]) -> tuple[Related, ...]:
    """Where the build files name the source."""
    linking = case.program.linking
    compiled = linking.targets_of(registered.file) if linking is not None else ()
    return tuple(
        Related(each.source.place, f"`{each.target.name}` compiles the file from here") for each in compiled[:1]
    )


def _why_not_imported(case: Case, path: str) -> str:
    facts = case.program.python_of(path)
    module = facts.module if facts is not None else path
    raised = case.raised_at
    if raised is not None and raised.path == path:
        return "the line had not run yet, or what it registers was gone again"
    return f"the module `{module}` was not imported before, or what it registers was gone again"


def _installed(case: Case, at: str) -> Iterator[Cause]:
    """What is known of an operator that only the installed torch has."""
    operator, program = case.operator, case.program
    installed = program.installed_operator(operator) if operator is not None else None
    if installed is None:
        return
    keys = ", ".join(dict.fromkeys(kernel.key for kernel in installed.kernels if kernel.active))
    message = f"`{operator}` is an operator of {program.torch_name} and not of these sources"
    if case.implementations:
        message += ", which register kernels for it at " + ", ".join(
            dict.fromkeys(program.key(each.fact.key) for each in case.implementations)
        )
    missing = case.table is not None and case.key in case.table.keys.runtime and case.table[case.key].missing
    more = f"; {program.torch_name} has kernels at {keys or 'no key'}" + (f", and none {at}" if missing else "")
    yield Cause(Certainty.CERTAIN if missing else Certainty.LIKELY, message + more, case.raised_at)


def _unknown(case: Case) -> Iterator[Cause]:
    """Of an operator that neither the sources nor the installed torch know."""
    operator = case.operator
    if operator is None:
        return
    program = case.program
    meant = case.meant
    hint = f"; did you mean `{meant}`?" if meant is not None else ""
    known = f"neither these sources nor {program.torch_name} define `{operator}`"
    others = program.defined_in(operator.namespace)
    if not hint and not others and not program.installs(operator.namespace):
        hint = f": no operator of the namespace `{operator.namespace}` is known here, so another package defines them"
    related = tuple(
        Related(found.fact.name_place, f"`{meant}` is defined here")
        for found in (program.definitions_of(meant) if meant is not None else ())
    )
    hidden = program.may_be_defined(operator)
    certainty = Certainty.POSSIBLE if hidden else Certainty.CERTAIN if meant is not None else Certainty.LIKELY
    uses = [use for use in program.uses_of(operator) if use.kind is not UseKind.GUARD]
    places: list[Place | None] = [use.name_place for use in uses[:_MOST_SHOWN]]
    for place in places or [case.raised_at]:
        yield Cause(certainty, known + hint, place, related)


def _no_operator(case: Case) -> Iterator[Cause]:
    operator = case.operator
    if operator is None:
        yield from _places(case)
        return
    for defined in case.definitions[:_MOST_SHOWN]:
        yield Cause(
            Certainty.LIKELY,
            f"`{operator}` is defined here, and was not there when it was asked for:"
            f" {_why_absent(case, defined.unit, defined)}",
            defined.fact.name_place,
            (*_asked_at(case), *_compiled_at(case, defined)),
        )
    if case.definitions:
        return
    installed = case.program.installed_operator(operator)
    if installed is not None and installed.schema is not None:
        yield from _installed(case, "")
        return
    for kernel in case.implementations[:_MOST_SHOWN]:
        yield Cause(
            Certainty.LIKELY if case.program.may_be_defined(operator) else Certainty.CERTAIN,
            f"`{operator}` has a kernel here, and nothing in the sources defines it: a kernel makes no operator",
            kernel.fact.name_place,
            _asked_at(case),
        )
    if not case.implementations:
        yield from _unknown(case)


def _asked_at(case: Case) -> tuple[Related, ...]:
    raised = case.raised_at
    if raised is not None:
        called = case.error.kind.stage is Stage.CALL
        return (Related(raised, "it was asked for here" if called else "the error was raised from here"),)
    uses = case.program.uses_of(case.operator) if case.operator is not None else ()
    return tuple(Related(use.name_place, "it is named here") for use in uses[:1])


def _no_overload(case: Case) -> Iterator[Cause]:
    operator = case.operator
    if operator is None:
        return
    overloads = case.program.overloads(operator.namespace, operator.name)
    named = ", ".join(f"`{each.overload or 'default'}`" for each in overloads) or "none"
    place = case.raised_at or next((found.fact.name_place for found in case.definitions), None)
    related = tuple(Related(found.fact.name_place, "defined here") for found in case.definitions)
    yield Cause(
        Certainty.CERTAIN, f"the overloads of `{operator.namespace}::{operator.name}` are {named}", place, related
    )


def _missing_fake(case: Case) -> Iterator[Cause]:
    operator = case.operator
    if operator is None:
        return
    if not case.knows(operator):
        yield from _unknown(case)
        return
    fakes = [each for key in (META, EXPLICIT_NON_FUNCTIONAL, EXPLICIT, IMPLICIT) for each in case.kernels_at(key)]
    if any(finding.code == "OPL302" for finding in case.findings):
        fakes = []  # the composite kernel of a custom_op is none, which the rule knows
    for fake in filter(_runs, fakes):
        yield Cause(
            Certainty.LIKELY,
            f"a fake of `{operator}` is here, and that process did not have it: {_why_absent(case, fake.unit, fake)}",
            fake.fact.name_place,
            _other_kernels(case, fake),
        )
    if fakes:
        return
    certain = not case.program.may_have_fake(operator)
    for defined in case.definitions[:_MOST_SHOWN]:
        module = defined.fact.python_module
        says = f", and says that its fake is in the Python module `{module}`" if module else ""
        nothing = "no fake" if case.kernels_at(EXPLICIT) else "no fake, no Meta kernel and no composite one"
        yield Cause(
            Certainty.CERTAIN if certain else Certainty.LIKELY,
            f"`{operator}` is defined here{says}, and the sources have {nothing}",
            defined.fact.name_place,
            _other_kernels(case, defined),
        )
    if not case.definitions:
        yield from _installed(case, f"at {META}")


def _twice(case: Case) -> Iterator[Cause]:
    """Of two registrations of one thing, whose places the message names."""
    sites = case.sites
    same = len(sites) > 1 and str(sites[0]) == str(sites[1])
    if same and sites[0].file is not None and len(tuple(_at_site(case, sites[0]))) < 2:
        for place in _at_site(case, sites[0]):
            yield Cause(
                Certainty.LIKELY,
                "both registrations are this one: the code ran twice, since its library was loaded from a copy, or is"
                " linked into two libraries that are loaded together, or its function was called twice",
                place,
            )
        return
    known = [(site, place) for site in dict.fromkeys(sites) if site.file is not None for place in _at_site(case, site)]
    places = list(dict.fromkeys(place for _, place in known))
    if not places or case.by_name:
        places = list(dict.fromkeys([*places, *(found.fact.name_place for found in case.definitions)]))
    for index, place in enumerate(places[:1]):
        related = tuple(Related(other, "and here") for other in places[index + 1 : index + 1 + _MOST_SHOWN])
        strangers = [str(site) for site in sites if site.file is None and not related]
        rest = f"; the other one is at {strangers[0]}, which is not in this project" if strangers else ""
        certainty = Certainty.CERTAIN if related or strangers else Certainty.LIKELY
        yield Cause(certainty, f"registered here{rest}", place, related)


def _at_site(case: Case, site: Site) -> Iterator[Place]:
    """What the error is about at a place that names a block: the operator's registrations in it, else the block."""
    if site.file is None:
        return
    if site.unit is None:
        yield case.line_of(site.file, site.line)
        return
    registered: tuple[Kernel, ...] = (*case.definitions, *case.implementations)
    found = [each.fact.name_place for each in registered if each.unit == site.unit]
    if case.operator is not None and found:
        yield from found
    else:
        yield site.unit.namespace_place or site.unit.place


def _schema_mismatch(case: Case) -> Iterator[Cause]:
    """A kernel that does not fit: the parameter that torch names, and the definition."""
    sites = case.sites
    units = [site.unit for site in sites if site.unit is not None]
    kernels = [each for each in _all_kernels(case) if each.unit in units] or list(_all_kernels(case))
    number = re.search(r"argument (\d+)", case.error.fields.get("reason", ""))
    for kernel in kernels[:_MOST_SHOWN]:
        place = _parameter(kernel, int(number[1])) if number else None
        related = [Related(kernel.fact.name_place, "the kernel is registered here")] if place is not None else []
        related += [
            Related(defined.fact.name_place, "the schema is here")
            for defined in case.definitions
            if defined is not kernel
        ]
        reason = case.error.fields.get("reason", "")
        says = f": {reason[0].lower()}{reason[1:]}" if reason else ""
        yield Cause(
            Certainty.CERTAIN if len(kernels) == 1 else Certainty.LIKELY,
            f"this kernel of `{case.operator}` does not fit{says}"
            + (" (the schema's type first, the kernel's second)" if "mismatch in" in reason else ""),
            place or kernel.fact.name_place,
            tuple(related),
        )
    if not kernels:
        yield from _places(case)


def _all_kernels(case: Case) -> Iterator[Kernel]:
    yield from case.implementations
    for defined in case.definitions:
        if defined.fact.kernel is not None:
            yield defined


def _parameter(kernel: Kernel, number: int) -> Place | None:
    signature = kernel.fact.kernel.signature if kernel.fact.kernel is not None else None
    if signature is None or not 0 < number <= len(signature.parameters):
        return None
    return signature.parameters[number - 1].place


def _cpp_mismatch(case: Case) -> Iterator[Cause]:
    """Two kernels whose C++ types differ: those at the keys that the message names."""
    keys = [case.program.key(case.error.fields[name]) for name in ("key", "key2") if name in case.error.fields]
    found = [each for key in keys for each in case.kernels_at(key)]
    places = list(dict.fromkeys(each.fact.name_place for each in found))
    if not places:
        yield from _places(case)
        return
    words = " and ".join(dict.fromkeys(keys))
    yield Cause(
        Certainty.CERTAIN if len(places) > 1 else Certainty.LIKELY,
        f"the kernels of `{case.operator}` at {words} have different C++ types",
        places[-1],
        tuple(Related(place, "the other one") for place in places[:-1]),
    )


def _invalid_schema(case: Case) -> Iterator[Cause]:
    """The definitions whose schema is the one that torch prints."""
    fields = case.error.fields
    written = squeezed(fields.get("marked", fields.get("line", ""))).rstrip("~")
    yield from _invalid_name(case, written)
    for defined in case.program.definitions:
        text = squeezed((defined.fact.schema or defined.fact.text).value)
        if text == written or (text and written.endswith(text)):
            yield Cause(
                Certainty.CERTAIN, "torch cannot read this schema", (defined.fact.schema or defined.fact.text).place
            )


def _invalid_name(case: Case, written: str) -> Iterator[Cause]:
    """The kernels that are registered under the name that torch prints."""
    for each in case.program.implementations:
        if squeezed(each.fact.text.value) == written:
            yield Cause(Certainty.CERTAIN, "torch cannot read this name", each.fact.text.place)


def _no_schema(case: Case) -> Iterator[Cause]:
    """Definitions by a name alone: that of the message, or all where it names none."""
    named = case.error.fields.get("name") or (local_name(case.operator) if case.operator else None)
    for defined in case.program.definitions:
        bare = "(" not in (defined.fact.schema or defined.fact.text).value
        if bare and named in (None, local_name(defined.fact.operator)) and (named or defined.fact.kernel is None):
            yield Cause(
                Certainty.LIKELY if named else Certainty.POSSIBLE,
                "only a name is given here, and nothing that says what the schema is",
                defined.fact.text.place,
            )


def _schema_for_name(case: Case) -> Iterator[Cause]:
    for each in case.program.implementations:
        if "(" in each.fact.text.value:
            yield Cause(Certainty.LIKELY, "a whole schema is given here where a name is wanted", each.fact.text.place)


def _uninferable(case: Case) -> Iterator[Cause]:
    """The function whose annotations torch complains of, with the same words."""
    reason, signature = (squeezed(case.error.fields.get(name, "")) for name in ("reason", "line"))
    found = [
        (file.path, inference)
        for file in case.program.files
        for inference in (file.python.inferences if file.python is not None else ())
        if inference.error is not None and reason and reason in squeezed(inference.error)
    ]
    exact = [each for each in found if signature and signature.rstrip(")") in squeezed(each[1].error or "")]
    for _, inference in (exact or found)[:_MOST_SHOWN]:
        yield Cause(
            Certainty.CERTAIN if len(exact) == 1 else Certainty.LIKELY,
            f"no schema can be made of this: {case.error.fields.get('reason', '')}",
            inference.error_place or inference.function,
            (Related(inference.place, "this asks for it"),),
        )
    if not found:
        yield from _places(case)


def _not_loaded(case: Case) -> Iterator[Cause]:
    """The calls in Python that load the library."""
    fields = case.error.fields
    name = PurePosixPath(fields.get("library", fields.get("line", "")).replace("\\", "/")).name
    raised = case.raised_at
    for file in case.program.files:
        for load in file.python.loads if file.python is not None else ():
            here = raised is not None and (raised.path, raised.line) == (load.place.path, load.place.line)
            if here or (name and load.path is not None and PurePosixPath(load.path).name == name):
                known = Certainty.CERTAIN if here else Certainty.LIKELY
                yield Cause(known, f"this loads `{name or load.text}`, and it could not be loaded", load.place)


def _undefined_symbol(case: Case) -> Iterator[Cause]:
    """A kernel of the project whose name is in the symbol; or a library that was built against another torch."""
    symbol = case.error.fields.get("symbol", case.error.fields.get("text", ""))
    kernels = dict.fromkeys(each for each in _project_kernels(case) if _names_function(symbol, each))
    for kernel in kernels:
        place = kernel.fact.kernel.place if kernel.fact.kernel is not None else kernel.fact.place
        yield Cause(
            Certainty.CERTAIN,
            f"this registers the function that is missing: no source that defines it is linked into `{_library(case)}`",
            place,
        )
    if not kernels and re.match(r"_+ZN[rVK]*[RO]?(?:2at|3c10|5torch|6caffe2)", symbol):
        yield Cause(
            Certainty.LIKELY,
            f"`{symbol}` is a function of torch: `{_library(case)}` was built against another torch than the one that"
            " loads it",
        )


def _library(case: Case) -> str:
    return PurePosixPath(case.error.fields.get("library", "the library")).name


def _project_kernels(case: Case) -> Iterator[Kernel]:
    yield from case.program.implementations
    yield from (each for each in case.program.definitions if each.fact.kernel is not None)


def _names_function(symbol: str, kernel: Kernel) -> bool:
    name = kernel.fact.kernel.name.rpartition("::")[2] if kernel.fact.kernel is not None else ""
    return name.isidentifier() and (f"{len(name)}{name}" in symbol or re.search(rf"\b{name}\b", symbol) is not None)


def _ambiguous(case: Case) -> Iterator[Cause]:
    composite = case.kernels_at(IMPLICIT)
    if not composite:
        yield from _places(case)
        return
    others = [each for each in case.implementations if case.program.key(each.fact.key) != IMPLICIT]
    related = tuple(Related(each.fact.name_place, f"its {each.fact.key} kernel") for each in others[:_MOST_SHOWN])
    message = f"the composite kernel of `{case.operator}` is registered here"
    yield Cause(Certainty.CERTAIN if others else Certainty.LIKELY, message, composite[0].fact.name_place, related)


def _no_tensors(case: Case) -> Iterator[Cause]:
    """No tensor was given; or all keys of its tensors fall through, of which torch says the same."""
    operator = case.operator
    fallthroughs = [each for each in case.implementations if each.fact.kernel.kind is KernelKind.FALLTHROUGH]
    for each in fallthroughs[:_MOST_SHOWN]:
        yield Cause(
            Certainty.LIKELY,
            f"`{operator}` falls through at {each.fact.key} here: below it a call has nothing left to run, and torch"
            " says that it had no tensors",
            each.fact.name_place,
        )
    for defined in case.definitions[:_MOST_SHOWN] if not fallthroughs else ():
        schema = parse_schema((defined.fact.schema or defined.fact.text).value)
        takes = _takes(getattr(schema, "arguments", ()))
        yield Cause(Certainty.CERTAIN, f"`{operator}` {takes}", defined.fact.name_place, _other_kernels(case, defined))
    if not case.definitions and not fallthroughs:
        yield from _installed(case, "for a call without tensors") if operator is not None else ()


def _takes(arguments: Sequence[object]) -> str:
    tensors = [each for each in arguments if "Tensor" in str(getattr(each, "type", ""))]
    if not tensors:
        return "takes no tensor, and has kernels for single backends only"
    return "takes tensors in lists or as optional arguments, and this call gave none"


def _call_does_not_fit(case: Case) -> Iterator[Cause]:
    raised = case.raised_at
    schema = case.error.fields.get("declaration")
    said = f" as that process had it: {schema}" if schema else ""
    related = tuple(Related(each.fact.name_place, "the operator is defined here") for each in case.definitions)
    if raised is not None:
        yield Cause(Certainty.CERTAIN, f"this call does not fit the schema{said}", raised, related)
        return
    for defined in case.definitions[:_MOST_SHOWN]:
        yield Cause(Certainty.LIKELY, f"calls must fit this schema{said}", defined.fact.name_place)


def _no_class(case: Case) -> Iterator[Cause]:
    """The schemas that name a class which is not there, else what asked for it."""
    name = f"__torch__.torch.classes.{case.error.fields.get('name', '')}"
    found = [each for each in case.program.definitions if name in (each.fact.schema or each.fact.text).value]
    for defined in found[:_MOST_SHOWN]:
        yield Cause(Certainty.CERTAIN, f"this schema names `{name}`", (defined.fact.schema or defined.fact.text).place)
    if not found:
        yield from _places(case)


def _fake_differs(case: Case) -> Iterator[Cause]:
    """The fake, with the kernels that it does not agree with."""
    for fake in case.kernels_at(META)[:_MOST_SHOWN]:
        said = case.error.fields.get("text")
        message = f"this fake of `{case.operator}` returns something else than its kernel{f': {said}' if said else ''}"
        yield Cause(Certainty.CERTAIN, message, fake.fact.name_place, _other_kernels(case, fake))
    if not case.kernels_at(META):
        yield from _places(case)


def _autograd_elsewhere(case: Case) -> Iterator[Cause]:
    """The kernels at keys of backends."""
    tables = case.tables
    found = [
        each
        for each in case.implementations
        if tables is not None
        and (key := case.program.key(each.fact.key)) in tables.keys.runtime
        and tables.keys.kind(key) is KeyKind.BACKEND
        and key != META
    ]
    for kernel in found[:_MOST_SHOWN]:
        message = f"this kernel of `{case.operator}` at {kernel.fact.key} calls operators that record gradients"
        yield Cause(Certainty.LIKELY, message, kernel.fact.name_place, _other_kernels(case, kernel))
    if not found:
        yield from _places(case)


def _places(case: Case) -> Iterator[Cause]:
    """Of any error: the places that its message names, the operator's definition, the line that raised it.

    Where a rule speaks of it, that is more than a place.
    """
    known = [place for site in case.sites for place in _at_site(case, site)]
    if case.findings:
        return
    if known:
        related = tuple(Related(place, "and this one") for place in dict.fromkeys(known[1:]) if place != known[0])
        yield Cause(Certainty.CERTAIN, "torch names this registration", known[0], related[:_MOST_SHOWN])
        return
    for defined in case.definitions[:_MOST_SHOWN]:
        yield Cause(
            Certainty.LIKELY, f"`{defined.fact.operator}` is defined here", defined.fact.name_place, _asked_at(case)
        )
    if not case.definitions and case.operator is not None and not case.error.fields.get("namespace"):
        yield from _installed(case, "") if case.knows(case.operator) else _unknown(case)
    elif not case.definitions and case.raised_at is not None:
        yield Cause(Certainty.LIKELY, "it was raised from here", case.raised_at)


_Explainer = Callable[[Case], Iterator[Cause]]
_EXPLAINERS: dict[str, _Explainer] = {
    calls.MISSING_KERNEL.name: _missing_kernel,
    calls.NO_TENSORS.name: _no_tensors,
    calls.AMBIGUOUS.name: _ambiguous,
    calls.MISSING_FAKE.name: _missing_fake,
    calls.NO_OPERATOR.name: _no_operator,
    calls.NO_OVERLOAD.name: _no_overload,
    calls.BAD_ARGUMENTS.name: _call_does_not_fit,
    calls.NO_CLASS.name: _no_class,
    checks.FAKE_DIFFERS.name: _fake_differs,
    checks.AUTOGRAD_ELSEWHERE.name: _autograd_elsewhere,
    registration.DUPLICATE_DEFINITION.name: _twice,
    registration.DUPLICATE_NAMESPACE.name: _twice,
    registration.DUPLICATE_FALLBACK.name: _twice,
    registration.OTHER_CPP_SIGNATURE.name: _cpp_mismatch,
    registration.SCHEMA_MISMATCH.name: _schema_mismatch,
    registration.NO_SCHEMA.name: _no_schema,
    registration.SCHEMA_FOR_A_NAME.name: _schema_for_name,
    schemas.INVALID_SCHEMA.name: _invalid_schema,
    python.UNINFERABLE.name: _uninferable,
    loading.NO_LIBRARY.name: _not_loaded,
    loading.NOT_LOADED.name: _not_loaded,
    loading.BAD_LIBRARY.name: _not_loaded,
    loading.UNDEFINED_SYMBOL.name: _undefined_symbol,
}
"""How the causes of a kind are found; of the others by the places that their messages name."""
