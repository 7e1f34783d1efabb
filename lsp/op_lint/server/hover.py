"""Hover: what the dispatcher makes of the thing under the cursor."""

from __future__ import annotations

import msgspec

from op_lint.dispatch.errors import META
from op_lint.dispatch.keys import EXPLICIT, EXPLICIT_NON_FUNCTIONAL, IMPLICIT, UNDEFINED, KeyKind
from op_lint.dispatch.table import Entry, Reason, Table
from op_lint.documentation import document
from op_lint.facts import Kernel, KernelKind, OperatorName, Place, PythonFunction, UseKind
from op_lint.kernels import parsed
from op_lint.naming import kernel_word, schema_of
from op_lint.nearest import did_you_mean
from op_lint.program import local_name
from op_lint.schema import Verdict, compare, format_argument, format_schema, format_type
from op_lint.schema.cpp_meaning import cpp_argument, cpp_returned
from op_lint.schema.model import Schema
from op_lint.selection import specificity
from op_lint.server import hover_build, hover_macro, priority
from op_lint.server.bodies import bodies_of
from op_lint.server.markdown import Link, code, counting, link_to, where
from op_lint.server.names import meant_schema
from op_lint.server.site import (
    CodeSite,
    KernelSite,
    KeySite,
    LinkSite,
    MacroSite,
    OperatorSite,
    Site,
    SourceSite,
    TargetSite,
    TypeSite,
    operators_at,
    site_at,
)
from op_lint.server.snapshot import Snapshot

_MOST_LISTED = 6
_MOST_OVERLOADS = 20

_ALIASES = {
    IMPLICIT: "A kernel made of other operators: it serves **every** backend, and autograd works through what it calls."
    " It steps aside at a backend that has a kernel of its own; then that backend's autograd key is empty, too.",
    EXPLICIT: "A kernel that serves every backend, written without regard to autograd: register a gradient at"
    " `Autograd`, or there is none.",
    EXPLICIT_NON_FUNCTIONAL: "As CompositeExplicitAutograd, for kernels that mutate or alias: those of backends"
    " that need functional operators are left out.",
    "Autograd": "A kernel for the autograd key of every backend.",
    "CompositeImplicitAutogradNestedTensor": "As CompositeImplicitAutograd, for nested tensors.",
    "FuncTorchBatchedDecomposition": "A decomposition that `torch.vmap` uses in place of a batching rule.",
}


class Hover(msgspec.Struct, frozen=True):
    """A text in Markdown about a place."""

    markdown: str
    place: Place


def hover_at(snapshot: Snapshot, path: str, offset: int, link: Link) -> Hover | None:
    """What to say of byte `offset` of a file; None where nothing of op-lint's stands there."""
    site = site_at(snapshot, path, offset)
    markdown = _about(snapshot, site, link) if site else None
    return Hover(markdown, site.place) if site and markdown else None


def _about(snapshot: Snapshot, site: Site, link: Link) -> str | None:
    if isinstance(site, KeySite):
        return about_key(snapshot, site.key, site.namespace)
    if isinstance(site, OperatorSite):
        return _about_operators(snapshot, operators_at(snapshot, site), link)
    if isinstance(site, KernelSite):
        return _about_kernel(snapshot, site, link)
    if isinstance(site, TypeSite):
        return _about_type(site)
    if isinstance(site, MacroSite):
        about = hover_macro.about_macro(snapshot, site, link)
        key = about_key(snapshot, site.unit.key, site.unit.namespace) if site.unit.key else None
        return f"{about}\n\n---\n\n{key}" if key else about
    if isinstance(site, TargetSite):
        return hover_build.about_target(snapshot, site, link)
    if isinstance(site, SourceSite):
        return hover_build.about_source(snapshot, site, link)
    if isinstance(site, LinkSite):
        return hover_build.about_link(snapshot, site)
    return _about_rule(snapshot, site)


# -- keys


def about_key(snapshot: Snapshot, name: str, namespace: str | None) -> str | None:
    """A dispatch key: what it is, where it stands, who stands in for it, who has it."""
    program, keys = snapshot.program, snapshot.program.keys
    if keys is None:
        return f"**{name}** — dispatch key\n\nwhat a call meets before and after it is known once a torch is read"
    key = keys.canonical(name)
    if key is None:
        meant = did_you_mean(name, (*keys.facts.aliases, *keys.runtime))
        return f"**{name}** — torch {_version(snapshot)} has no such dispatch key{meant}"
    other = f" (written `{name}`)" if key != name else ""
    if keys.is_alias(key):
        return "\n\n".join(_about_alias(snapshot, key, other, namespace))
    parts = [f"**{key}**{other} — {_kind_words(snapshot, key)}"]
    rows = priority.way_through(program, keys, key, namespace)
    counted = namespace is not None and any(row.kernels for row in rows)
    counts = f", with how many operators of {code(namespace or '')} have a kernel there" if counted else ""
    parts.append(
        f"A call runs what is at the **highest key** of its tensors and its thread, here from the top{counts}:"
    )
    parts.append(_drawing(rows))
    parts.append(
        "What runs above the backend calls on to the keys below it. A **fallthrough** makes its key invisible."
    )
    parts.append(_when_missing(snapshot, key))
    if namespace is not None and keys.kind(key) is KeyKind.BACKEND:
        without = [each for each in program.defined_in(namespace) if _is_unserved(snapshot, each, key)]
        if without:
            more = f" and {len(without) - _MOST_LISTED} more" if len(without) > _MOST_LISTED else ""
            parts.append(
                f"Raises at `{key}`: " + ", ".join(code(local_name(each)) for each in without[:_MOST_LISTED]) + more
            )
    return "\n\n".join(parts)


def _is_unserved(snapshot: Snapshot, operator: OperatorName, key: str) -> bool:
    table = snapshot.table(operator)
    return table is not None and (table[key].missing or _is_refusal(table[key]))


def _is_refusal(entry: Entry) -> bool:
    """Whether an entry is torch's fallback for Meta tensors, which says that there is no kernel (torch 2.13)."""
    return entry.key == META and entry.reason is Reason.FALLBACK


def _about_alias(snapshot: Snapshot, key: str, other: str, namespace: str | None) -> list[str]:
    keys = snapshot.program.keys
    assert keys is not None
    included = [name for name in keys.runtime if name in keys.included(key) and name != UNDEFINED]
    shown = ", ".join(included[:_MOST_LISTED]) + (f" and {len(included) - _MOST_LISTED} more" if included[6:] else "")
    parts = [f"**{key}**{other} — alias key: registered to, never dispatched to", _ALIASES.get(key, "")]
    parts.append(f"Stands for {len(included)} runtime keys: {shown}. A kernel at one of these keys itself comes first.")
    order = " → ".join(("the key's own kernel", *_PRECEDENCE, "backend fallback", "an error"))
    parts.append(f"At each key the dispatcher takes the first of: {order}")
    if namespace is not None and snapshot.program.defined_in(namespace):
        count = len(priority.having(snapshot.program, namespace, key))
        parts.append(f"{namespace}: {count} of {len(snapshot.program.defined_in(namespace))} operators have it")
    return [part for part in parts if part]


_PRECEDENCE = (EXPLICIT_NON_FUNCTIONAL, EXPLICIT, IMPLICIT, "Autograd")


def _kind_words(snapshot: Snapshot, key: str) -> str:
    keys = snapshot.program.keys
    assert keys is not None
    functionality, backend = keys.split(key)
    kind = keys.kind(key)
    if kind is KeyKind.BACKEND and backend is not None:
        device = next((name for name, dense in keys.facts.devices.items() if dense == backend), None)
        layout = "dense" if functionality == "Dense" else functionality.lower()
        on = f"device *{device}*, " if device else ""
        return f"backend key ({on}layout *{layout}*)"
    if kind is KeyKind.AUTOGRAD:
        of = f" of {backend} tensors" if backend else ""
        return f"autograd key{of}: where gradients are recorded, before the backend's kernel"
    if kind is KeyKind.AUTOCAST:
        return "autocast key: where `torch.autocast` changes dtypes, before autograd"
    return f"{kind.value} key"


def _drawing(rows: tuple[priority.Row, ...]) -> str:
    width = max((len(row.key) for row in rows), default=0)
    notes = max((len(row.note) for row in rows), default=0)
    lines = [
        f"{'▶' if row.here else ' '} {row.key:{width}}  {row.note:{notes}}  {row.kernels}".rstrip() for row in rows
    ]
    return "```text\n" + "\n".join(lines) + "\n```"


def _when_missing(snapshot: Snapshot, key: str) -> str:
    keys = snapshot.program.keys
    assert keys is not None
    aliases = [f"**{alias}**" for alias in priority.stand_ins(keys, key)]
    fallback = snapshot.program.installed.fallback_registrations().get(key) if snapshot.program.installed else None
    helped = f"If an operator has no kernel at `{key}`, {', then '.join(aliases)} stand in" if aliases else ""
    if fallback is not None and fallback.fallthrough:
        end = "PyTorch registers a fallthrough here: such a call goes on to the next key."
    elif fallback is not None and key != META:
        end = "PyTorch's fallback runs where there is none."
    else:
        end = "If none is there the call **raises** NotImplementedError: it does not fall to a lower key."
    gradient = ""
    if keys.kind(key) is KeyKind.BACKEND:
        gradient = " A kernel here does not see autograd: register gradients at `Autograd`."
    return (f"{helped}. " if helped else "") + end + gradient


# -- operators


def _about_operators(snapshot: Snapshot, operators: tuple[OperatorName, ...], link: Link) -> str | None:
    """What a name in Python stands for: an operator, or several overloads of which the arguments choose one."""
    if len(operators) == 1:
        return about_operator(snapshot, operators[0], link)
    name = f"{operators[0].namespace}::{operators[0].name}"
    lines = []
    for operator in operators[:_MOST_OVERLOADS]:
        definitions = snapshot.program.definitions_of(operator)
        places = ", ".join(link_to(where(each.place), each.place, link) for each in definitions)
        lines.append(
            f"- {code(schema_of(snapshot.program, operator) or str(operator))}" + (f" · {places}" if places else "")
        )
    more = len(operators) - _MOST_OVERLOADS
    if more > 0:
        lines.append(f"- and {more} more")
    return f"**{name}** — {len(operators)} overloads, of which the arguments choose one:\n\n" + "\n".join(lines)


def about_operator(snapshot: Snapshot, operator: OperatorName, link: Link) -> str | None:
    """An operator: its schema, its kernels by key, its callers, what is installed."""
    program = snapshot.program
    definitions = program.definitions_of(operator)
    schema = schema_of(program, operator)
    installed = program.installed_operator(operator)
    if not definitions and not program.implementations_of(operator) and installed is None:
        return f"{code(str(operator))}\n\nno definition of this operator is known"
    title = code(schema or str(operator))
    places = ", ".join(link_to(where(each.place), each.place, link) for each in definitions)
    if not definitions:
        places = f"defined by torch {_version(snapshot)}" if installed else "no `def` in the sources"
    parts = [f"{title} · {places}", _kernel_table(snapshot, operator, link)]
    parts.append(_uses(snapshot, operator, link))
    if installed is not None and definitions:
        parts.append(_installed_words(installed.schema, schema, snapshot))
    elif snapshot.program.installed is not None and definitions:
        parts.append(f"torch {_version(snapshot)} by itself has no such operator")
    return "\n\n".join(part for part in parts if part)


def _uses(snapshot: Snapshot, operator: OperatorName, link: Link) -> str:
    """Who calls an operator in Python."""
    uses = [use for use in snapshot.uses_of(operator) if use.kind in (UseKind.CALL, UseKind.REFERENCE)]
    if not uses:
        return "no use in Python"
    shown = []
    for use in uses[:_MOST_LISTED]:
        around = snapshot.program.function_around(use.place)
        shown.append(link_to(where(use.place), use.place, link) + (f" in {code(around.name)}" if around else ""))
    more = f" and {len(uses) - _MOST_LISTED} more" if len(uses) > _MOST_LISTED else ""
    return f"{counting(len(uses), 'use')} in Python: {', '.join(shown)}{more}"


def _installed_words(installed: str | None, own: str | None, snapshot: Snapshot) -> str:
    there = parsed(installed) if installed else None
    here = parsed(own) if own else None
    if isinstance(there, Schema) and isinstance(here, Schema) and there != here:
        return f"torch {_version(snapshot)} has another schema: {code(installed or '')}"
    return f"torch {_version(snapshot)} has it, too"


def _kernel_table(snapshot: Snapshot, operator: OperatorName, link: Link) -> str:
    table = snapshot.table(operator)
    columns = {"CPU": "CPU", "CUDA": "CUDA", "Meta": "Meta / fake", "AutogradCPU": "Autograd"}
    cells = {title: _cell(snapshot, operator, key, table, link) for key, title in columns.items()}
    own = snapshot.program.kernels_of(operator)
    for key in own:
        if key not in (*columns, "Autograd"):
            cells[key] = _cell(snapshot, operator, key, table, link)
    head = " | ".join(cells)
    return f"| {head} |\n|{'---|' * len(cells)}\n| {' | '.join(cells.values())} |"


def _cell(snapshot: Snapshot, operator: OperatorName, key: str, table: Table | None, link: Link) -> str:
    kernels = snapshot.program.kernels_of(operator)
    own = kernels.get(key) or (kernels.get("Autograd") if key.startswith("Autograd") else None)
    if own:
        sign = "✓" if snapshot.program.keys is None or snapshot.program.keys.canonical(key) else "✗ no such key:"
        return f"{sign} " + ", ".join(
            _kernel_words(registered.fact.kernel, registered.place, link)
            for registered in own
            if registered.fact.kernel
        )
    if table is None or not table.keys.is_runtime(key):
        return "-"
    return _entry_words(table[key])


def _kernel_words(kernel: Kernel, place: Place, link: Link) -> str:
    word, kind = kernel_word(kernel), kernel.kind.value
    return link_to(word, place, link) + (f" `{kind}`" if kernel.kind is not KernelKind.KERNEL and word != kind else "")


def _entry_words(entry: Entry) -> str:
    if entry.missing or _is_refusal(entry):
        return "✗ raises"
    if entry.reason is Reason.AMBIGUOUS:
        return "✗ ambiguous"
    if entry.reason is Reason.FALLBACK:
        if entry.fallthrough:
            return "- skipped"
        return "- gradients stop at this operator" if entry.key.startswith("Autograd") else "- PyTorch's fallback"
    return f"✓ {entry.reason.value}"


# -- kernels, types, macros, rules


def _about_kernel(snapshot: Snapshot, site: KernelSite, link: Link) -> str:
    kernel, fact = site.kernel, site.fact
    parts = [f"**{kernel_word(kernel)}** — {kernel.kind.value} of {code(str(fact.operator))}"]
    schema = schema_of(snapshot.program, fact.operator)
    function = _python_function(snapshot, kernel)
    if function is not None:
        parts.append(f"```python\n{_python_head(function)}\n```")
    if kernel.signature is not None:
        parts.append(f"```cpp\n{kernel.signature}\n```")
        meant = meant_schema(kernel.signature)
        if meant is not None:
            parts.append(f"its signature means {code(format_schema(meant))}")
        elif not kernel.stable:
            parts.append("its signature has types that no schema can hold, or that are not known here")
    if schema is not None:
        parts.append(f"the operator's schema is {code(schema)}{_fits(kernel, schema)}")
    own = kernel.defined or kernel.declared
    places = bodies_of(snapshot, kernel) or ((own,) if own else ())
    if places:
        parts.append(", ".join(link_to(where(place), place, link) for place in places))
    return "\n\n".join(parts)


def _python_function(snapshot: Snapshot, kernel: Kernel) -> PythonFunction | None:
    facts = snapshot.files.get(kernel.defined.path) if kernel.defined else None
    functions = facts.python.functions if facts and facts.python else ()
    return next((function for function in functions if function.place == kernel.defined), None)


_STARS = {"args": "*", "kwargs": "**"}


def _python_head(function: PythonFunction) -> str:
    """The function's first line, as Python would print it."""
    words: list[str] = []
    for parameter in function.parameters:
        if parameter.kind == "keyword" and not any(word.startswith("*") for word in words):
            words.append("*")
        annotation = f": {parameter.annotation}" if parameter.annotation else ""
        equals = " = " if annotation else "="
        default = f"{equals}{parameter.default}" if parameter.default is not None else ""
        words.append(f"{_STARS.get(parameter.kind, '')}{parameter.name}{annotation}{default}")
    returns = f" -> {function.returns}" if function.returns else ""
    return f"def {function.name}({', '.join(words)}){returns}"


def _fits(kernel: Kernel, schema: str) -> str:
    """Whether a kernel fits a schema, and in what it does not; empty where that is not known."""
    value = parsed(schema)
    if kernel.signature is None or kernel.stable or not isinstance(value, Schema):
        return ""
    comparison = compare(kernel.signature, value, schema)
    if not comparison.mismatches:
        return ", which it fits" if comparison.verdict is Verdict.FITS else ""
    lines = []
    for mismatch in comparison.mismatches[:_MOST_LISTED]:
        named = mismatch.argument.name if mismatch.argument else ""
        what = f"argument `{named}`" if named else mismatch.part.value
        lines.append(f"- {what}: `{mismatch.expected}` in the schema, `{mismatch.actual}` here")
    return ", which it does **not** fit:\n" + "\n".join(lines)


def _about_type(site: TypeSite) -> str:
    argument = site.argument
    parts = [f"**{format_type(argument.type)}** — `{format_argument(argument)}`"]
    written = cpp_returned(argument) if site.is_return else cpp_argument(argument)
    verb = "returns" if site.is_return else "takes"
    parts.append(f"a C++ kernel {verb} {code(written)}" if written else f"no C++ type that a kernel {verb} means this")
    if argument.is_written:
        parts.append("it is an argument that was written to" if site.is_return else "the operator writes to it")
    elif argument.alias is not None:
        parts.append(f"it may share its memory with {'an argument' if site.is_return else 'a result'} of the same mark")
    return "\n\n".join(parts)


def _about_rule(snapshot: Snapshot, site: CodeSite) -> str | None:
    meant = [rule for rule in snapshot.packs.rules if specificity(site.code, rule.code, rule.name)]
    if not meant:
        return f"no rule has the code, prefix or name `{site.code}`"
    if len(meant) == 1:
        return document(meant[0])
    return f"**{site.code}** — {len(meant)} rules:\n\n" + "\n".join(f"- {rule.code} {rule.name}" for rule in meant)


def _version(snapshot: Snapshot) -> str:
    return snapshot.program.installed.version if snapshot.program.installed else "?"
