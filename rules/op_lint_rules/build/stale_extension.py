"""OPL507."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Definition, LibraryLoad, OperatorName, Place
from op_lint.findings import Finding, Related, Severity
from op_lint.kernels import schema_text, text_differences
from op_lint.live import Comparison, Loaded, place_in
from op_lint.program import Program, Registered, parse_name
from op_lint.rule import Rule
from op_lint_rules.build._live import comparison, loaded_names


class StaleExtension(Rule):
    """The extension that is loaded is not what these sources would build, or may not be.

    ## What it does
    Reports a `torch.ops.load_library` of whichever file a search with a wildcard finds first
    (`list(here.glob("_C*.so"))[0]`), where nothing asks whether there are several: the build for another Python, or one
    from before a rename, matches as well.

    With `--load` or `--import`, reports operators and kernels that the dispatcher has from a file of the project in
    which they no longer stand, operators with another schema than the source gives them, and kernels that two copies
    of one block registered, of which the later hides the other.

    ## Why it is bad
    What runs is not what one reads: calls reach old kernels, and fit an old schema.

    ## Example
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x, float s) -> Tensor");
    }
    ```
    What the dispatcher says with the library loaded:
    ```text title="loaded"
    name: demo::scale
    schema: demo::scale(Tensor x) -> Tensor
    debug: registered at ops.cpp:4
    alias analysis kind: FROM_SCHEMA
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x, float s) -> Tensor");
    }
    ```
    After a rebuild:
    ```text title="loaded"
    name: demo::scale
    schema: demo::scale(Tensor x, float s) -> Tensor
    debug: registered at ops.cpp:4
    alias analysis kind: FROM_SCHEMA
    ```

    ## References
    - `torch._C._dispatch_dump` in torch/csrc/utils/python_dispatch.cpp
    """

    code = "OPL507"
    name = "stale-extension"
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        """Loads of one file of several; and of what is loaded, what is more, what differs and what is there twice."""
        for facts in program.files:
            for load in facts.python.loads if facts.python else ():
                if load.picked_from is not None:
                    yield self._picked(load, load.picked_from)
        yield from self._loaded(program)

    def _picked(self, load: LibraryLoad, search: Place) -> Finding:
        return self.finding(
            load.place,
            f"this loads whichever file `{load.text}` finds first: where an older build lies beside the new one, that "
            "may be the old one; name the file, or raise where the search finds several",
            related=(Related(search, "the search"),),
        )

    def _loaded(self, program: Program) -> Iterator[Finding]:
        compared = comparison(program)
        if compared is None:
            return
        names = loaded_names(program)
        gone: dict[tuple[str, OperatorName | None], list[Loaded]] = {}
        for loaded in compared.extra:
            gone.setdefault((min(loaded.files), loaded.operator), []).append(loaded)
        for (path, operator), rows in gone.items():
            yield self._gone(_place(compared, path, rows[0]), operator, rows, names)
        yield from self._schemas(program, names)
        for _, later in compared.twice:
            yield self._twice(compared, later)

    def _gone(self, place: Place, operator: OperatorName | None, rows: list[Loaded], names: str) -> Finding:
        keys = sorted({row.key for row in rows if row.key is not None})
        what = f"`{operator}`" if operator is not None else "a fallback"
        kernels = f" ({', '.join(keys)})" if keys else ""
        return self.finding(
            place,
            f"{names} has {what}{kernels} from this file, which no longer registers it: rebuild, or find out which "
            "copy is loaded",
            notes=tuple(sorted({f"the dispatcher has it as registered at {row.path}:{row.line}" for row in rows})),
        )

    def _schemas(self, program: Program, names: str) -> Iterator[Finding]:
        extension = program.extension
        for name in extension.defined if extension is not None else ():
            operator = extension.operators[name] if extension is not None else None
            if operator is None or operator.schema is None:
                continue
            definitions = program.definitions_of(parse_name(name))
            if len(definitions) != 1 or not definitions[0].certain:
                continue
            if text_differences(schema_text(definitions[0].fact).value, operator.schema):
                yield self._other_schema(definitions[0], operator.schema, names)

    def _other_schema(self, definition: Registered[Definition], schema: str, names: str) -> Finding:
        return self.finding(
            definition.fact.name_place,
            f"{names} defines `{definition.fact.operator}` with another schema: rebuild, or find out which copy is "
            "loaded",
            notes=(f"the loaded schema: {schema}",),
        )

    def _twice(self, compared: Comparison, loaded: Loaded) -> Finding:
        written = compared.origin(loaded)
        place = place_in(written) if written is not None else _place(compared, min(loaded.files), loaded)
        return self.finding(
            place,
            f"the {loaded.key} kernel of `{loaded.operator}` is registered twice from this place: two copies of the "
            "library are loaded, and the later one hides the other; load one",
            related=(Related(written.unit.place, "the block that is there twice"),) if written is not None else (),
        )


def _place(compared: Comparison, path: str, loaded: Loaded) -> Place:
    """The block at the loaded one's line, else the last one before it, else the file's first line."""
    blocks = [written.unit.place for written in compared.written if written.file == path]
    before = [place for place in blocks if place.line <= loaded.line]
    return max(before, key=lambda place: place.line, default=min(blocks, default=Place(path, 1, 0, 0)))
