"""Little projects whose registrations the linker keeps or drops, each in one way that real projects have.

Every project makes `main`, the library that is loaded (or the program that is run), from some of the sources here.
`@` in target names is replaced by the name of the case, so that all of them can be built as one CMake project.
"""

from __future__ import annotations

from typing import NamedTuple

REGISTERS = {
    "a.cpp": """\
#include <torch/library.h>
TORCH_LIBRARY_FRAGMENT(linking, m) { m.def("a(Tensor x) -> Tensor"); }
""",
    "b.cpp": """\
#include <torch/library.h>
TORCH_LIBRARY_FRAGMENT(linking, m) { m.def("b(Tensor x) -> Tensor"); }
""",
    "a_anchored.cpp": """\
#include <torch/library.h>
#include "anchor.h"
TORCH_LIBRARY_FRAGMENT(linking, m) { m.def("a(Tensor x) -> Tensor"); }
int anchor_a() { return 1; }
""",
    "b_anchored.cpp": """\
#include <torch/library.h>
extern "C" int anchor_b() { return 2; }
TORCH_LIBRARY_FRAGMENT(linking, m) { m.def("b(Tensor x) -> Tensor"); }
""",
    "a_needs_b.cpp": """\
#include <torch/library.h>
#include "anchor.h"
extern "C" int anchor_b();
TORCH_LIBRARY_FRAGMENT(linking, m) { m.def("a(Tensor x) -> Tensor"); }
int anchor_a() { return 1 + anchor_b(); }
""",
}
"""The registering sources. There are few, since each is compiled against the headers of torch."""

OTHERS = {
    "anchor.h": "#pragma once\nint anchor_a();\n",
    "entry.cpp": "int entry() { return 0; }\n",
    "calls_anchor.cpp": '#include "anchor.h"\nint entry() { return anchor_a(); }\n',
    "only_declares.cpp": '#include "anchor.h"\nint entry() { return 0; }\n',
    "keep.h": '#pragma once\n#include "anchor.h"\nstatic int kept = anchor_a();\n',
    "uses_keep.cpp": '#include "keep.h"\nint entry() { return 0; }\n',
    "lazy.h": '#pragma once\n#include "anchor.h"\ninline int lazy() { return anchor_a(); }\n',
    "includes_lazy.cpp": '#include "lazy.h"\nint entry() { return 0; }\n',
    "calls_lazy.cpp": '#include "lazy.h"\nint entry() { return lazy(); }\n',
    "own_anchor.cpp": "int anchor_a() { return 3; }\nint entry() { return anchor_a(); }\n",
    "takes_address.cpp": '#include "anchor.h"\nint (*point)() = &anchor_a;\nint entry() { return point(); }\n',
    "calls_middle.cpp": "int middle();\nint entry() { return middle(); }\n",
    "middle.cpp": "int middle() { return 4; }\n",
    "middle_calls.cpp": '#include "anchor.h"\nint middle() { return anchor_a(); }\n',
    "calls_b.cpp": 'extern "C" int anchor_b();\nint entry() { return anchor_b(); }\n',
    "run.cpp": """\
#include <torch/library.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <cstdio>
int main() {
  const char* separator = "[";
  for (const char* name : {"a", "b"}) {
    if (c10::Dispatcher::singleton().findSchema({std::string("linking::") + name, ""})) {
      std::printf("%s\\"%s\\"", separator, name);
      separator = ", ";
    }
  }
  std::printf("%s]", separator[0] == '[' ? "[" : "");
}
""",
}


class Case(NamedTuple):
    """One project: its CMake file, whether it makes a program that is run, and the rule whose fix is applied first.

    `only` are the sources of a project that has no others.
    """

    name: str
    cmake: str
    is_program: bool = False
    fixed: str = ""
    only: tuple[str, ...] = ()


HEAD = """\
cmake_minimum_required(VERSION 3.24)
project(@ CXX)
find_package(Torch REQUIRED)
"""

_TORCH = 'target_link_libraries({} PRIVATE "${{TORCH_LIBRARIES}}")\n'


def _case(name: str, cmake: str, *torch: str, is_program: bool = False) -> Case:
    links = "".join(_TORCH.format(target) for target in (torch or ("main@",)))
    return Case(name, HEAD + cmake + links, is_program)


CASES = (
    _case("shared", "add_library(main@ SHARED a.cpp entry.cpp)\n"),
    _case("module", "add_library(main@ MODULE a.cpp b.cpp)\n"),
    _case(
        "static",
        "add_library(ops@ STATIC a.cpp)\nadd_library(main@ SHARED entry.cpp)\n"
        "target_link_libraries(main@ PRIVATE ops@)\n",
        "ops@", "main@",
    ),
    *(
        _case(
            name,
            "add_library(ops@ STATIC a.cpp)\nadd_library(main@ MODULE entry.cpp)\n"
            "target_link_libraries(main@ PRIVATE ops@)\n",
            "ops@", "main@",
        )._replace(fixed="OPL502")
        for name in ("fixed", "fixed_for_old_cmake")
    ),
    _case(
        "anchor_as_offered",
        "add_library(ops@ STATIC a.cpp)\nadd_library(main@ SHARED entry.cpp)\n"
        "target_link_libraries(main@ PRIVATE ops@)\n",
        "ops@", "main@",
    )._replace(only=("a.cpp", "entry.cpp")),
    _case("fixed_left_out", "add_library(main@ SHARED\n  entry.cpp  # the entry\n)\n")._replace(
        fixed="OPL501", only=("a.cpp", "entry.cpp")
    ),
    _case(
        "fixed_twice",
        "add_library(core@ SHARED a.cpp middle.cpp)\nadd_library(main@ SHARED a.cpp calls_middle.cpp)\n"
        "target_link_libraries(main@ PRIVATE core@)\n",
        "core@", "main@",
    )._replace(fixed="OPL503"),
    _case(
        "whole_archive_feature",
        "add_library(ops@ STATIC a.cpp b.cpp)\nadd_library(main@ MODULE entry.cpp)\n"
        'target_link_libraries(main@ PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,ops@>")\n',
        "ops@", "main@",
    ),
    _case(
        "whole_archive_flags",
        "add_library(ops@ STATIC a.cpp)\nadd_library(main@ SHARED entry.cpp)\n"
        "target_link_libraries(main@ PRIVATE -Wl,--whole-archive ops@ -Wl,--no-whole-archive)\n",
        "ops@", "main@",
    ),
    _case(
        "whole_archive_one_word",
        "add_library(ops@ STATIC a.cpp)\nadd_library(main@ SHARED entry.cpp)\nadd_dependencies(main@ ops@)\n"
        'target_link_libraries(main@ PRIVATE "-Wl,--whole-archive,$<TARGET_FILE:ops@>,--no-whole-archive")\n',
        "ops@", "main@",
    ),
    _case(
        "whole_archive_of_another",
        "add_library(ops@ STATIC a.cpp)\nadd_library(other@ STATIC b.cpp)\nadd_library(main@ SHARED entry.cpp)\n"
        "target_link_libraries(main@ PRIVATE -Wl,--whole-archive other@ -Wl,--no-whole-archive ops@)\n",
        "ops@", "other@", "main@",
    ),
    _case(
        "target_objects",
        "add_library(ops@ OBJECT a.cpp)\nadd_library(main@ SHARED entry.cpp $<TARGET_OBJECTS:ops@>)\n",
        "ops@", "main@",
    ),
    _case(
        "object_library_linked",
        "add_library(ops@ OBJECT a.cpp b.cpp)\nadd_library(main@ SHARED entry.cpp)\n"
        "target_link_libraries(main@ PRIVATE ops@)\n",
        "ops@", "main@",
    ),
    _case(
        "object_library_in_static",
        "add_library(objects@ OBJECT a.cpp)\nadd_library(ops@ STATIC middle.cpp $<TARGET_OBJECTS:objects@>)\n"
        "add_library(main@ SHARED calls_middle.cpp)\ntarget_link_libraries(main@ PRIVATE ops@)\n",
        "objects@", "main@",
    ),
    _case(
        "anchor_called",
        "add_library(ops@ STATIC a_anchored.cpp)\nadd_library(main@ SHARED calls_anchor.cpp)\n"
        "target_link_libraries(main@ PRIVATE ops@)\n",
        "ops@", "main@",
    ),
    _case(
        "anchor_only_declared",
        "add_library(ops@ STATIC a_anchored.cpp)\nadd_library(main@ SHARED only_declares.cpp)\n"
        "target_link_libraries(main@ PRIVATE ops@)\n",
        "ops@", "main@",
    ),
    _case(
        "anchor_in_header",
        "add_library(ops@ STATIC a_anchored.cpp)\nadd_library(main@ SHARED uses_keep.cpp)\n"
        "target_link_libraries(main@ PRIVATE ops@)\n",
        "ops@", "main@",
    ),
    _case(
        "anchor_in_unused_inline",
        "add_library(ops@ STATIC a_anchored.cpp)\nadd_library(main@ SHARED includes_lazy.cpp)\n"
        "target_link_libraries(main@ PRIVATE ops@)\n",
        "ops@", "main@",
    ),
    _case(
        "anchor_in_used_inline",
        "add_library(ops@ STATIC a_anchored.cpp)\nadd_library(main@ SHARED calls_lazy.cpp)\n"
        "target_link_libraries(main@ PRIVATE ops@)\n",
        "ops@", "main@",
    ),
    _case(
        "anchor_by_address",
        "add_library(ops@ STATIC a_anchored.cpp)\nadd_library(main@ SHARED takes_address.cpp)\n"
        "target_link_libraries(main@ PRIVATE ops@)\n",
        "ops@", "main@",
    ),
    _case(
        "anchor_defined_by_the_user_too",
        "add_library(ops@ STATIC a_anchored.cpp)\nadd_library(main@ SHARED own_anchor.cpp)\n"
        "target_link_libraries(main@ PRIVATE ops@)\n",
        "ops@", "main@",
    ),
    _case(
        "anchor_forced_by_option",
        "add_library(ops@ STATIC b_anchored.cpp)\nadd_library(main@ SHARED entry.cpp)\n"
        "target_link_options(main@ PRIVATE -Wl,-u,anchor_b)\ntarget_link_libraries(main@ PRIVATE ops@)\n",
        "ops@", "main@",
    ),
    _case(
        "one_of_two_members",
        "add_library(ops@ STATIC a_anchored.cpp b_anchored.cpp)\nadd_library(main@ SHARED calls_b.cpp)\n"
        "target_link_libraries(main@ PRIVATE ops@)\n",
        "ops@", "main@",
    ),
    _case(
        "member_pulls_member",
        "add_library(ops@ STATIC a_needs_b.cpp b_anchored.cpp)\nadd_library(main@ SHARED calls_anchor.cpp)\n"
        "target_link_libraries(main@ PRIVATE ops@)\n",
        "ops@", "main@",
    ),
    _case(
        "static_in_static",
        "add_library(ops@ STATIC a_anchored.cpp)\nadd_library(middle@ STATIC middle.cpp)\n"
        "target_link_libraries(middle@ PRIVATE ops@)\nadd_library(main@ SHARED calls_middle.cpp)\n"
        "target_link_libraries(main@ PRIVATE middle@)\n",
        "ops@", "main@",
    ),
    _case(
        "static_in_static_used",
        "add_library(ops@ STATIC a_anchored.cpp)\nadd_library(middle@ STATIC middle_calls.cpp)\n"
        "target_link_libraries(middle@ PRIVATE ops@)\nadd_library(main@ SHARED calls_middle.cpp)\n"
        "target_link_libraries(main@ PRIVATE middle@)\n",
        "ops@", "main@",
    ),
    _case(
        "whole_archive_by_interface",
        "add_library(ops@ STATIC a.cpp)\nadd_library(all@ INTERFACE)\n"
        "target_link_libraries(all@ INTERFACE $<LINK_LIBRARY:WHOLE_ARCHIVE,ops@>)\n"
        "add_library(main@ SHARED entry.cpp)\ntarget_link_libraries(main@ PRIVATE all@)\n",
        "ops@", "main@",
    ),
    _case(
        "whole_archive_by_interface_option",
        "add_library(ops@ STATIC a.cpp)\n"
        'target_link_options(ops@ INTERFACE "SHELL:LINKER:--whole-archive $<TARGET_FILE:ops@> '
        'LINKER:--no-whole-archive")\n'
        "add_library(main@ SHARED entry.cpp)\ntarget_link_libraries(main@ PRIVATE ops@)\n",
        "ops@", "main@",
    ),
    _case(
        "interface_sources",
        "add_library(ops@ INTERFACE)\ntarget_sources(ops@ INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/a.cpp)\n"
        "add_library(main@ SHARED entry.cpp)\ntarget_link_libraries(main@ PRIVATE ops@)\n",
    ),
    _case(
        "shared_chain_used",
        "add_library(ops@ SHARED a_anchored.cpp)\nadd_library(main@ SHARED calls_anchor.cpp)\n"
        "target_link_libraries(main@ PRIVATE ops@)\n",
        "ops@",
    ),
    _case(
        "shared_chain_unused",
        "add_library(ops@ SHARED a_anchored.cpp)\nadd_library(main@ SHARED entry.cpp)\n"
        "target_link_libraries(main@ PRIVATE ops@)\n",
        "ops@",
    ),
    _case(
        "shared_chain_no_as_needed",
        "add_library(ops@ SHARED a_anchored.cpp)\nadd_library(main@ SHARED entry.cpp)\n"
        "target_link_libraries(main@ PRIVATE -Wl,--no-as-needed ops@)\n",
        "ops@",
    ),
    _case(
        "shared_chain_as_needed_used",
        "add_library(ops@ SHARED a_anchored.cpp)\nadd_library(main@ SHARED calls_anchor.cpp)\n"
        "target_link_libraries(main@ PRIVATE -Wl,--as-needed ops@)\n",
        "ops@",
    ),
    _case(
        "shared_chain_of_three",
        "add_library(ops@ SHARED a_anchored.cpp)\nadd_library(middle@ SHARED middle_calls.cpp)\n"
        "target_link_libraries(middle@ PRIVATE ops@)\nadd_library(main@ SHARED calls_middle.cpp)\n"
        "target_link_libraries(main@ PRIVATE middle@)\n",
        "ops@",
    ),
    _case(
        "shared_chain_of_three_broken",
        "add_library(ops@ SHARED a_anchored.cpp)\nadd_library(middle@ SHARED middle.cpp)\n"
        "target_link_libraries(middle@ PRIVATE ops@)\nadd_library(main@ SHARED calls_middle.cpp)\n"
        "target_link_libraries(main@ PRIVATE middle@)\n",
        "ops@",
    ),
    _case(
        "gc_sections",
        "add_library(main@ SHARED a.cpp entry.cpp)\n"
        "target_compile_options(main@ PRIVATE -ffunction-sections -fdata-sections)\n"
        "target_link_options(main@ PRIVATE -Wl,--gc-sections)\n",
    ),
    _case(
        "gc_sections_whole_archive",
        "add_library(ops@ STATIC a.cpp)\ntarget_compile_options(ops@ PRIVATE -ffunction-sections -fdata-sections)\n"
        "add_library(main@ SHARED entry.cpp)\ntarget_link_options(main@ PRIVATE -Wl,--gc-sections)\n"
        "target_link_libraries(main@ PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,ops@>)\n",
        "ops@", "main@",
    ),
    _case(
        "lto",
        "set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)\nadd_library(main@ SHARED a.cpp entry.cpp)\n",
    ),
    _case(
        "lto_static",
        "set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)\nadd_library(ops@ STATIC a.cpp)\n"
        "add_library(main@ SHARED entry.cpp)\ntarget_link_libraries(main@ PRIVATE ops@)\n",
        "ops@", "main@",
    ),
    _case(
        "hidden",
        "set(CMAKE_CXX_VISIBILITY_PRESET hidden)\nset(CMAKE_VISIBILITY_INLINES_HIDDEN ON)\n"
        "add_library(main@ SHARED a.cpp entry.cpp)\n",
    ),
    _case(
        "hidden_anchor",
        "set(CMAKE_CXX_VISIBILITY_PRESET hidden)\nset(CMAKE_VISIBILITY_INLINES_HIDDEN ON)\n"
        "add_library(ops@ STATIC a_anchored.cpp)\nadd_library(main@ SHARED calls_anchor.cpp)\n"
        "target_link_libraries(main@ PRIVATE ops@)\n",
        "ops@", "main@",
    ),
    _case("left_out", "add_library(main@ SHARED b.cpp entry.cpp)\n"),
    _case(
        "option_off",
        "option(WITH_A_@ \"\" OFF)\nset(sources b.cpp)\nif(WITH_A_@)\n  list(APPEND sources a.cpp)\nendif()\n"
        "add_library(main@ SHARED ${sources})\n",
    ),
    _case(
        "option_on",
        "option(WITH_A_@ \"\" ON)\nadd_library(main@ SHARED b.cpp)\n"
        "if(WITH_A_@)\n  target_sources(main@ PRIVATE a.cpp)\nendif()\n",
    ),
    _case("glob", "file(GLOB sources CONFIGURE_DEPENDS a.cpp b.c*)\nadd_library(main@ SHARED ${sources})\n"),
    _case(
        "made_by_function",
        "function(define_ops name)\n  cmake_parse_arguments(ARG \"\" \"KIND\" \"SOURCES;EXTRA\" ${ARGN})\n"
        "  add_library(${name} ${ARG_KIND} ${ARG_SOURCES} ${ARG_EXTRA})\nendfunction()\n"
        "define_ops(main@ KIND SHARED SOURCES entry.cpp EXTRA a.cpp)\n",
    ),
    _case(
        "in_two_libraries",
        "add_library(core@ SHARED a.cpp middle.cpp)\nadd_library(main@ SHARED a.cpp calls_middle.cpp)\n"
        "target_link_libraries(main@ PRIVATE core@)\n",
        "core@", "main@",
    ),
    _case(
        "program_whole_archive",
        "add_library(ops@ STATIC a.cpp)\nadd_executable(main@ run.cpp)\n"
        "target_link_libraries(main@ PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,ops@>)\n",
        "ops@", "main@", is_program=True,
    ),
    _case(
        "program_static",
        "add_library(ops@ STATIC a.cpp)\nadd_executable(main@ run.cpp)\ntarget_link_libraries(main@ PRIVATE ops@)\n",
        "ops@", "main@", is_program=True,
    ),
    _case(
        "program_shared_unused",
        "add_library(ops@ SHARED a.cpp)\nadd_executable(main@ run.cpp)\ntarget_link_libraries(main@ PRIVATE ops@)\n",
        "ops@", "main@", is_program=True,
    ),
)  # fmt: skip
