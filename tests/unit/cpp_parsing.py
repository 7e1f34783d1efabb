"""One source, parsed as the reader does it: for tests of what looks at libclang's answer."""

from __future__ import annotations

from op_lint.cpp import clang
from op_lint.cpp.clang import Diagnostic, TranslationUnit
from op_lint.cpp.overlay_header import OVERLAY, overlay
from op_lint.cpp.preprocess import Preprocessed
from tests.unit.cpp_reading import reader_of


def parse(
    text: str, extra: dict[str, bytes] | None = None, arguments: tuple[str, ...] = (), **headers: str
) -> tuple[TranslationUnit, Preprocessed, list[Diagnostic]]:
    """`ops.cpp` with `text`; a keyword `name` is the header `name.h`, `extra` what libclang is given besides."""
    reader = reader_of({"ops.cpp": text, **{f"{name}.h": content for name, content in headers.items()}})
    preprocessed = reader.preprocessed("ops.cpp", text.encode())
    files = {view.alias: view.rewritten({}, {}) for view in preprocessed.views}
    given = {**files, OVERLAY: overlay(), **(extra or {})}
    tu = clang.parse(preprocessed.main.alias, given, [*reader.arguments("ops.cpp"), *arguments])
    return tu, preprocessed, tu.errors()
