"""CMake files, read statically: every construct that decides what is compiled and linked."""

from __future__ import annotations

from pathlib import Path

import pytest

from op_lint.build.cmake.lexer import read_script
from op_lint.build.model import TargetKind
from tests.unit.graphs import cmake, codes, defines, graph_of, links, only, sources


def test_words_and_places() -> None:
    data = b'# a comment\nSet(NAME "two words;b" [[raw ${x}]] un\\ quoted) #[[ block\n]]\nmessage(a(b)c)\n'
    script = read_script("CMakeLists.txt", data)
    first, second = script.commands
    assert (first.name, [each.text for each in first.arguments]) == (
        "set",
        ["NAME", "two words;b", "raw ${x}", "un\\ quoted"],
    )
    assert [each.text for each in second.arguments] == ["a", "(", "b", ")", "c"]
    for argument in (*first.arguments, *second.arguments):
        assert data[argument.place.start : argument.place.end].decode() == argument.text
        assert argument.place.line == data[: argument.place.start].count(b"\n") + 1
    assert not script.problems


def test_text_that_is_not_ascii() -> None:
    data = 'set(ä "größe")\nadd_library(x a.cpp)\n'.encode()
    command = read_script("CMakeLists.txt", data).commands[0]
    assert command.arguments[1].text == "größe"
    assert data[command.arguments[1].place.start : command.arguments[1].place.end].decode() == "größe"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add_library(t SHARED a.cpp b.cpp)", {"a.cpp": "", "b.cpp": ""}),
        ("set(S a.cpp)\nlist(APPEND S b.cpp)\nadd_library(t SHARED ${S})", {"a.cpp": "", "b.cpp": ""}),
        ('set(S "a.cpp;b.cpp")\nadd_library(t SHARED "${S}")', {"a.cpp": "", "b.cpp": ""}),
        ("add_library(t SHARED)\ntarget_sources(t PRIVATE a.cpp PUBLIC b.cpp)", {"a.cpp": "", "b.cpp": ""}),
        ("file(GLOB S *.cpp)\nadd_library(t SHARED ${S})", {"a.cpp": "", "b.cpp": ""}),
        ("file(GLOB_RECURSE S RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} sub/*.cpp)\nadd_library(t SHARED ${S})",
         {"sub/c.cpp": ""}),
        ("set(D sub)\nset(V D)\nadd_library(t SHARED ${${V}}/c.cpp)", {"sub/c.cpp": ""}),
        ("foreach(n a b)\n list(APPEND S ${n}.cpp)\nendforeach()\nadd_library(t SHARED ${S})",
         {"a.cpp": "", "b.cpp": ""}),
        (
            "set(L a b)\nforeach(n IN LISTS L ITEMS sub/c)\n list(APPEND S ${n}.cpp)\nendforeach()\n"
            "add_library(t SHARED ${S})",
            {"a.cpp": "", "b.cpp": "", "sub/c.cpp": ""},
        ),
        (
            "set(i 0)\nwhile(i LESS 2)\n math(EXPR i \"${i} + 1\")\n list(APPEND S ${i}.cpp)\nendwhile()\n"
            'string(REPLACE "1" "a" S "${S}")\nstring(REGEX REPLACE "2([.])" "b\\\\1" S "${S}")\n'
            "add_library(t SHARED ${S})",
            {"a.cpp": "", "b.cpp": ""},
        ),
        ("set(S a.cpp b.cpp)\nlist(FILTER S EXCLUDE REGEX b)\nadd_library(t SHARED ${S})", {"a.cpp": ""}),
        ("set(S a b)\nlist(TRANSFORM S APPEND .cpp)\nadd_library(t SHARED ${S})", {"a.cpp": "", "b.cpp": ""}),
        ("set(S a.cpp b.cpp)\nlist(REMOVE_ITEM S b.cpp)\nadd_library(t SHARED ${S})", {"a.cpp": ""}),
        ("get_filename_component(N x/a.cu NAME_WE)\nadd_library(t SHARED ${N}.cpp)", {"a.cpp": ""}),
        ("if(1)\n set(S a.cpp)\nelse()\n set(S b.cpp)\nendif()\nadd_library(t SHARED ${S})", {"a.cpp": ""}),
        ("set(X ON)\nif(NOT X)\n return()\nendif()\nadd_library(t SHARED a.cpp)", {"a.cpp": ""}),
        ("add_library(t SHARED a.cpp $<$<CONFIG:Debug>:b.cpp>)", {"a.cpp": "", "b.cpp": "CONFIG Debug"}),
        ("option(W \"\" ON)\nadd_library(t SHARED a.cpp $<$<BOOL:${W}>:b.cpp>)", {"a.cpp": "", "b.cpp": "W"}),
        ("add_library(t SHARED $<IF:$<BOOL:1>,a.cpp,b.cpp>)", {"a.cpp": ""}),
        ("configure_file(a.cpp ${CMAKE_CURRENT_BINARY_DIR}/made.cpp)\n"
         "add_library(t SHARED ${CMAKE_CURRENT_BINARY_DIR}/made.cpp)", {"a.cpp": ""}),
        ("add_library(t SHARED ${CMAKE_CURRENT_BINARY_DIR}/sub/c.cpp)", {"sub/c.cpp": ""}),
    ],
)  # fmt: skip
def test_sources(text: str, expected: dict[str, str], tmp_path: Path) -> None:
    target = only(cmake(tmp_path, text, "a.cpp", "b.cpp", "sub/c.cpp"), "t")
    assert sources(target) == expected
    assert not target.incomplete


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if(W)\n list(APPEND S a.cpp)\nendif()", {"a.cpp": "W", "z.cpp": ""}),
        ("if(W)\n list(APPEND S a.cpp)\nelse()\n list(APPEND S b.cpp)\nendif()",
         {"a.cpp": "W", "b.cpp": "!W", "z.cpp": ""}),
        ("if(NOT W)\n list(APPEND S a.cpp)\nendif()", {"a.cpp": "!W", "z.cpp": ""}),
        ("if(W AND V)\n list(APPEND S a.cpp)\nendif()", {"a.cpp": "V && W", "z.cpp": ""}),
        ("if(W OR V)\n list(APPEND S a.cpp)\nendif()", {"a.cpp": "V || W", "z.cpp": ""}),
        ("if(W AND (V OR NOT W))\n list(APPEND S a.cpp)\nendif()", {"a.cpp": "V && W", "z.cpp": ""}),
        ("if(W)\n set(U ON)\nelse()\n set(U OFF)\nendif()\nif(U)\n list(APPEND S a.cpp)\nendif()",
         {"a.cpp": "W", "z.cpp": ""}),
        ("if(W)\n if(NOT W)\n  list(APPEND S a.cpp)\n endif()\nendif()", {"z.cpp": ""}),
        ("if(W)\n return()\nendif()", {"z.cpp": "!W"}),
        ("if(W)\n message(FATAL_ERROR no)\nendif()", {"z.cpp": ""}),
        ('if(LANG STREQUAL "CUDA")\n list(APPEND S a.cpp)\nendif()', {"a.cpp": 'LANG STREQUAL CUDA', "z.cpp": ""}),
        ("if(DEFINED W)\n list(APPEND S a.cpp)\nendif()", {"a.cpp": "DEFINED W", "z.cpp": ""}),
        ("if(WIN32)\n set(E b)\nelse()\n set(E a)\nendif()\nlist(APPEND S ${E}.cpp)",
         {"b.cpp": "WIN32", "a.cpp": "!WIN32", "z.cpp": ""}),
        ("if(W)\n list(REMOVE_ITEM S z.cpp)\nendif()", {"z.cpp": "!W"}),
        ("foreach(n a b)\n if(W)\n  list(APPEND S ${n}.cpp)\n endif()\nendforeach()",
         {"a.cpp": "W", "b.cpp": "W", "z.cpp": ""}),
        ("find_package(CUDA QUIET)\nif(CUDA_FOUND)\n list(APPEND S a.cpp)\nendif()",
         {"a.cpp": "CUDA_FOUND", "z.cpp": ""}),
        ("find_package(CUDA REQUIRED)\nif(CUDA_FOUND)\n list(APPEND S a.cpp)\nendif()", {"a.cpp": "", "z.cpp": ""}),
        ('if("$ENV{CI}" STREQUAL "1")\n list(APPEND S a.cpp)\nendif()', {"a.cpp": "$ENV{CI} STREQUAL 1", "z.cpp": ""}),
        ('if("x${CMAKE_BINARY_DIR}/z.cpp" STREQUAL "xSHARED")\n list(APPEND S a.cpp)\nendif()', {"z.cpp": ""}),
        ('if("--jobs=$ENV{J}" STREQUAL "STATIC")\nelse()\n list(APPEND S a.cpp)\nendif()', {"a.cpp": "", "z.cpp": ""}),
        ('if("${CMAKE_BINARY_DIR}/z.cpp" MATCHES "\\\\.cpp$")\n list(APPEND S a.cpp)\nendif()',
         {"a.cpp": "", "z.cpp": ""}),
        ('if("${CMAKE_BINARY_DIR}/z.cpp" MATCHES "\\\\.cu$")\n list(APPEND S a.cpp)\nendif()', {"z.cpp": ""}),
        ('if("${CMAKE_BINARY_DIR}/z.cpp" MATCHES "z.*$")\n list(APPEND S a.cpp)\nendif()',
         {"a.cpp": "CMAKE_BINARY_DIR/z.cpp MATCHES z.*$", "z.cpp": ""}),
        ("while(W)\n list(APPEND S a.cpp)\nendwhile()", {"a.cpp": "W", "z.cpp": ""}),
    ],
)  # fmt: skip
def test_both_arms_of_an_undecided_if(text: str, expected: dict[str, str], tmp_path: Path) -> None:
    whole = f"set(S z.cpp)\n{text}\nadd_library(t SHARED ${{S}})\n"
    target = only(cmake(tmp_path, whole, "a.cpp", "b.cpp", "z.cpp"), "t")
    assert {path: _joined(str(target.condition), condition) for path, condition in sources(target).items()} == expected


def _joined(outer: str, inner: str) -> str:
    return " && ".join(each for each in (outer, inner) if each)


def test_flags_that_the_user_may_choose_are_not_the_build_files_own(tmp_path: Path) -> None:
    text = 'set(ABI "-DABI=0" CACHE STRING "")\nset(CMAKE_CXX_FLAGS "${CMAKE_CXX_FLAGS} ${ABI} -DOWN=1")\n'
    target = only(cmake(tmp_path, f"{text}add_library(t SHARED a.cpp)\n", "a.cpp"))
    assert defines(target) == {"OWN": "1"}


def test_one_name_in_both_arms_is_one_target(tmp_path: Path) -> None:
    text = "if(W)\n add_library(t SHARED a.cpp b.cpp)\nelse()\n add_library(t SHARED a.cpp)\nendif()\n"
    target = only(cmake(tmp_path, text, "a.cpp", "b.cpp"))
    assert (str(target.condition), sources(target)) == ("", {"a.cpp": "", "b.cpp": "W"})


def test_a_text_that_the_user_may_choose(tmp_path: Path) -> None:
    text = 'set(DEVICE "cuda" CACHE STRING "")\nif(DEVICE STREQUAL "cpu")\n add_library(c SHARED a.cpp)\nelse()\n'
    graph = cmake(
        tmp_path,
        f"{text} add_library(g SHARED b.cpp)\nendif()\nadd_library(n SHARED ${{DEVICE}}.cpp)\n",
        "a.cpp",
        "b.cpp",
        "cuda.cpp",
    )
    assert {target.name: str(target.condition) for target in graph.targets} == {
        "c": "DEVICE STREQUAL cpu",
        "g": "!(DEVICE STREQUAL cpu)",
        "n": "",
    }
    assert [(switch.atom, switch.default) for switch in graph.switches] == [("DEVICE STREQUAL cpu", False)]
    assert sources(only(graph, "n")) == {"cuda.cpp": ""}


@pytest.mark.parametrize(
    "test", ["NOT DEFINED VARIANT", "NOT VARIANT"], ids=["asked whether it is there", "set where it is not"]
)
def test_a_variable_that_the_user_may_set_has_any_value_then(test: str, tmp_path: Path) -> None:
    text = f"if({test})\n set(VARIANT cuda)\nendif()\nset(S a.cpp)\n"
    text += "if(VARIANT STREQUAL rocm)\n list(APPEND S b.cpp)\nendif()\nadd_library(t SHARED ${S})\n"
    atom = "DEFINED VARIANT" if "DEFINED" in test else "VARIANT"
    found = sources(only(cmake(tmp_path, text, "a.cpp", "b.cpp")))
    assert found["a.cpp"] == ""
    assert set(found["b.cpp"].replace("(DEFINED VARIANT)", "DEFINED VARIANT").split(" && ")) == {
        atom,
        "VARIANT STREQUAL rocm",
    }


def test_what_is_made_of_an_unknown_text_is_unknown(tmp_path: Path) -> None:
    text = 'string(REGEX MATCHALL "sm_[0-9]+" ARCHS "${CMAKE_CUDA_FLAGS}")\nset(CMAKE_CUDA_FLAGS -O2)\n'
    text += "if(ARCHS)\n add_library(t SHARED a.cpp)\nendif()\n"
    assert str(only(cmake(tmp_path, text, "a.cpp")).condition) == "ARCHS"


def test_flags_that_the_variables_of_a_folder_have_at_its_end(tmp_path: Path) -> None:
    text = 'add_library(m MODULE a.cpp)\nadd_executable(e a.cpp)\nset(CMAKE_EXE_LINKER_FLAGS "-Wl,--no-as-needed -s")\n'
    text += 'set(CMAKE_CXX_FLAGS "${CMAKE_CXX_FLAGS} -O2 -DNAME=demo")\n'
    graph = cmake(tmp_path, text, "a.cpp")
    assert defines(only(graph, "m")) == defines(only(graph, "e")) == {"NAME": "demo"}
    assert [option.text for option in only(graph, "e").options] == ["-Wl,--no-as-needed -s"]
    assert only(graph, "m").options == ()


def test_sources_that_a_python_script_lists(tmp_path: Path) -> None:
    script = "KINDS = ['a', 'b']\nfiles = ['{}.cpp'.format(k) for k in KINDS]\n"
    run = (
        "execute_process(COMMAND ${PYTHON_EXECUTABLE} -c \"exec(open('lists.py').read()); print(';'.join(files))\""
        " WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE S)\n"
    )
    text = f'{run}string(REPLACE "\\n" "" S "${{S}}")\nadd_library(t SHARED ${{S}})\n'
    target = only(cmake(tmp_path, text, "a.cpp", "b.cpp", lists_dot_py=script))
    assert sources(target) == {"a.cpp": "", "b.cpp": ""}
    assert not target.incomplete


@pytest.mark.parametrize(
    "program",
    ["import os; print(os.listdir())", "exec(open('lists.py').read()); print(files + [", "print(1)", "x = 1", ""],
)
def test_what_other_programs_print_is_not_known(program: str, tmp_path: Path) -> None:
    text = f'execute_process(COMMAND python3 -c "{program}" OUTPUT_VARIABLE S)\nadd_library(t SHARED a.cpp ${{S}})\n'
    target = only(cmake(tmp_path, text, "a.cpp", lists_dot_py="files = []\n"))
    assert sources(target) == {"a.cpp": ""}
    assert target.incomplete


def test_objects_that_a_command_makes_of_a_source(tmp_path: Path) -> None:
    text = "add_custom_command(OUTPUT a.o MAIN_DEPENDENCY a.cpp COMMAND compile a.cpp)\n"
    text += "add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/b.o COMMAND compile DEPENDS tool.py b.cpp)\n"
    text += "add_library(t SHARED a.o ${CMAKE_CURRENT_BINARY_DIR}/b.o)\n"
    assert sources(only(cmake(tmp_path, text, "a.cpp", "b.cpp"))) == {"a.cpp": "", "b.cpp": ""}


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("GET P STEM x", "b"), ("GET P STEM LAST_ONLY x", "b.c"), ("GET P FILENAME x", "b.c.cpp"),
        ("GET P PARENT_PATH x", "sub"), ("GET P EXTENSION LAST_ONLY x", ".cpp"),
        ("ABSOLUTE_PATH P BASE_DIRECTORY /r OUTPUT_VARIABLE x", "/r/sub/b.c.cpp"),
        ("NORMAL_PATH P OUTPUT_VARIABLE x", "sub/b.c.cpp"),
    ],
)  # fmt: skip
def test_paths(form: str, expected: str, tmp_path: Path) -> None:
    graph = cmake(tmp_path, f"set(P sub/b.c.cpp)\ncmake_path({form})\nadd_library(n${{x}} SHARED a.cpp)\n", "a.cpp")
    assert only(graph).name == f"n{expected}"


def test_hashes_are_those_of_cmake(tmp_path: Path) -> None:
    graph = cmake(tmp_path, 'string(MD5 h "abc")\nadd_library(n${h} SHARED a.cpp)\n', "a.cpp")
    assert only(graph).name == "n900150983cd24fb0d6963f7d28e17f72"


def test_options_are_switches_with_their_defaults(tmp_path: Path) -> None:
    text = 'option(A "" ON)\noption(B "")\nset(C OFF CACHE BOOL "")\nset(D x CACHE STRING "")\n'
    text += 'set(E ON)\noption(E "" OFF)\n'
    graph = cmake(tmp_path, text + "add_library(t a.cpp)\n", "a.cpp")
    assert {switch.atom: switch.default for switch in graph.switches} == {"A": True, "B": False, "C": False}


def test_a_library_without_a_kind_is_as_the_build_says(tmp_path: Path) -> None:
    graph = cmake(tmp_path, "add_library(t a.cpp)\n", "a.cpp")
    assert {(each.kind, str(each.condition)) for each in graph.targets} == {
        (TargetKind.SHARED, "BUILD_SHARED_LIBS"),
        (TargetKind.STATIC, "!BUILD_SHARED_LIBS"),
    }
    fixed = cmake(tmp_path / "on", "set(BUILD_SHARED_LIBS ON)\nadd_library(t a.cpp)\n", "a.cpp")
    assert only(fixed).kind is TargetKind.SHARED


@pytest.mark.parametrize(
    ("text", "kind", "module"),
    [
        ("add_library(t STATIC a.cpp)", TargetKind.STATIC, None),
        ("add_library(t OBJECT a.cpp)", TargetKind.OBJECT, None),
        ("add_executable(t a.cpp)", TargetKind.EXECUTABLE, None),
        ("Python_add_library(t MODULE USE_SABI 3.9 WITH_SOABI a.cpp)", TargetKind.MODULE, "t"),
        ("Python3_add_library(t MODULE a.cpp)", TargetKind.MODULE, "t"),
        ("pybind11_add_module(t NO_EXTRAS a.cpp)", TargetKind.MODULE, "t"),
        ("nanobind_add_module(t STABLE_ABI a.cpp)", TargetKind.MODULE, "t"),
        ("cuda_add_library(t SHARED a.cpp OPTIONS -O3)", TargetKind.SHARED, None),
        ("hip_add_library(t SHARED a.cpp)", TargetKind.SHARED, None),
        ('add_library(t MODULE a.cpp)\nset_target_properties(t PROPERTIES PREFIX "")', TargetKind.MODULE, "t"),
        (
            'add_library(t MODULE a.cpp)\nset_target_properties(t PROPERTIES PREFIX "" OUTPUT_NAME _C)',
            TargetKind.MODULE,
            "_C",
        ),
    ],
)
def test_kinds(text: str, kind: TargetKind, module: str | None, tmp_path: Path) -> None:
    target = only(cmake(tmp_path, text, "a.cpp"))
    assert (target.kind, target.module, sources(target)) == (kind, module, {"a.cpp": ""})


def test_functions_and_macros_of_the_project(tmp_path: Path) -> None:
    text = """
function(define_target name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "SABI" "KIND" "SOURCES;LIBS")
  if(ARG_SABI)
    set(extra b.cpp)
  endif()
  add_library(${name} ${ARG_KIND} ${ARG_SOURCES} ${extra})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS})
  set(made ${name} PARENT_SCOPE)
endfunction()
macro(add_source file)
  list(APPEND S ${file} ${ARGN})
endmacro()
add_source(a.cpp c.cpp)
define_target(one KIND MODULE SOURCES ${S} LIBS torch)
define_target(two SABI KIND SHARED SOURCES a.cpp)
add_executable(${made}_test c.cpp)
"""
    graph = cmake(tmp_path, text, "a.cpp", "b.cpp", "c.cpp")
    assert sources(only(graph, "one")) == {"a.cpp": "", "c.cpp": ""}
    assert links(only(graph, "one")) == [("torch", "plain")]
    assert sources(only(graph, "two")) == {"a.cpp": "", "b.cpp": ""}
    assert not any(each.incomplete for each in graph.targets)
    assert only(graph, "one").place.line == 15
    assert sources(only(graph, "two_test")) == {"c.cpp": ""}


def test_other_files_and_folders(tmp_path: Path) -> None:
    graph = graph_of(
        tmp_path,
        {
            "CMakeLists.txt": "project(p)\nlist(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_SOURCE_DIR}/cmake)\n"
            "include(Tools)\ninclude(cmake/more.cmake)\nset(S a.cpp)\nadd_subdirectory(sub)\n"
            "add_library(t SHARED ${S} ${M})\n",
            "cmake/Tools.cmake": "function(tool name)\n add_library(${name} SHARED ${ARGN})\nendfunction()\n",
            "cmake/more.cmake": "set(M ${CMAKE_CURRENT_LIST_DIR}/m.cpp)\n",
            "sub/CMakeLists.txt": "tool(inner b.cpp ${PROJECT_SOURCE_DIR}/a.cpp)\nset(S ${S} sub/b.cpp PARENT_SCOPE)\n",
            "a.cpp": "",
            "cmake/m.cpp": "",
            "sub/b.cpp": "",
            "other/CMakeLists.txt": "project(other)\nadd_executable(alone x.cpp)\n",
            "other/x.cpp": "",
        },
    )
    assert sources(only(graph, "inner")) == {"sub/b.cpp": "", "a.cpp": ""}
    assert sources(only(graph, "t")) == {"a.cpp": "", "sub/b.cpp": "", "cmake/m.cpp": ""}
    assert (only(graph, "alone").project, only(graph, "t").project) == ("other", "")
    assert graph.files == (
        "CMakeLists.txt", "cmake/Tools.cmake", "cmake/more.cmake", "other/CMakeLists.txt", "sub/CMakeLists.txt",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("target_link_libraries(t PRIVATE x)", [("x", "plain")]),
        ("target_link_libraries(t x -lfoo debug y)", [("x", "plain"), ("foo", "plain"), ("y", "plain")]),
        ("target_link_libraries(t PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,x,y>)",
         [("x", "whole archive"), ("y", "whole archive")]),
        ("target_link_libraries(t PRIVATE -Wl,--whole-archive x -Wl,--no-whole-archive y)",
         [("x", "whole archive"), ("y", "plain")]),
        ('target_link_libraries(t PRIVATE "-Wl,--whole-archive,$<TARGET_FILE:x>,--no-whole-archive")',
         [("x", "whole archive")]),
        ("target_link_libraries(t PRIVATE -Wl,-force_load,$<TARGET_FILE:x>)", [("x", "whole archive")]),
        ("target_link_libraries(t PRIVATE -Wl,-force_load x)", [("x", "whole archive")]),
        ('target_link_options(t PRIVATE "/WHOLEARCHIVE:x")', [("x", "whole archive")]),
        ('target_link_options(t PRIVATE "LINKER:--whole-archive,$<TARGET_FILE:x>,--no-whole-archive")',
         [("x", "whole archive")]),
        ('set_target_properties(t PROPERTIES LINK_FLAGS "-Wl,--whole-archive x")', [("x", "whole archive")]),
        ("target_sources(t PRIVATE $<TARGET_OBJECTS:x>)", [("x", "objects")]),
        ("target_link_libraries(t PRIVATE $<BUILD_INTERFACE:x>)", [("x", "plain")]),
        ("set(L x y)\ntarget_link_libraries(t PRIVATE ${L})", [("x", "plain"), ("y", "plain")]),
        ("add_library(A::x ALIAS x)\ntarget_link_libraries(t PRIVATE A::x)", [("x", "plain")]),
        ("set_property(TARGET t PROPERTY LINK_LIBRARY_OVERRIDE WHOLE_ARCHIVE,x)", [("x", "whole archive")]),
    ],
)  # fmt: skip
def test_links(text: str, expected: list[tuple[str, str]], tmp_path: Path) -> None:
    whole = f"add_library(x STATIC a.cpp)\nadd_library(t SHARED a.cpp)\n{text}\n"
    assert links(only(cmake(tmp_path, whole, "a.cpp"), "t")) == expected


def test_a_link_under_a_condition_and_its_place(tmp_path: Path) -> None:
    text = "add_library(t SHARED a.cpp)\nif(W)\n  target_link_libraries(t PRIVATE x)\nendif()\n"
    (link,) = only(cmake(tmp_path, text, "a.cpp")).links
    assert (str(link.condition), link.place.line) == ("W", 3)
    assert text[link.place.start : link.place.end] == "x"


def test_macros(tmp_path: Path) -> None:
    text = (
        "add_definitions(-DALL=1)\nadd_library(t SHARED a.cpp)\nadd_compile_definitions(LATER)\n"
        "target_compile_definitions(t PRIVATE -DTORCH_EXTENSION_NAME=demo NO_VALUE)\n"
        "target_compile_options(t PRIVATE -O2 -DFROM_OPTION=x)\n"
        "set_target_properties(t PROPERTIES COMPILE_DEFINITIONS PROPERTY=2)\n"
    )
    assert defines(only(cmake(tmp_path, text, "a.cpp"))) == {
        "ALL": "1", "LATER": None, "TORCH_EXTENSION_NAME": "demo", "NO_VALUE": None, "FROM_OPTION": "x",
        "PROPERTY": "2",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "add_library(t SHARED a.cpp ${FROM_ELSEWHERE})",
        "execute_process(COMMAND list OUTPUT_VARIABLE S)\nadd_library(t SHARED a.cpp ${S})",
        "add_library(t SHARED a.cpp ${CMAKE_BINARY_DIR}/generated.cpp)",
        "add_library(t SHARED a.cpp missing.cpp)",
    ],
)
def test_sources_that_the_files_do_not_tell_make_a_target_incomplete(text: str, tmp_path: Path) -> None:
    target = only(cmake(tmp_path, text, "a.cpp"))
    assert sources(target) == {"a.cpp": ""}
    assert target.incomplete


def test_files_named_in_commands_that_are_not_known_are_mentioned(tmp_path: Path) -> None:
    graph = cmake(tmp_path, "rocm_build(ops SOURCES a.cpp)\nadd_library(t SHARED b.cpp)\n", "a.cpp", "b.cpp")
    assert "a.cpp" in graph.mentioned


class TestHostileFiles:
    """Whatever stands in a build file, reading ends, and says what it left out."""

    @pytest.mark.parametrize(
        "text",
        ["add_library(t a.cpp", ")))((", "if(", 'set(X "never closed', "endif()\nelse()\nendforeach()\n",
         "\x00\xff\xfe", "if(A)\nfunction(f)\nadd_library(t a.cpp)", "[==[ [=[",
         "set()\nlist()\nstring()\nfile()\nmath()\nforeach()\nif()\n"],
    )  # fmt: skip
    def test_syntax(self, text: str, tmp_path: Path) -> None:
        graph = graph_of(
            tmp_path, {"CMakeLists.txt": text.encode("latin-1") + b"\nadd_library(last SHARED a.cpp)\n", "a.cpp": ""}
        )
        assert graph.files == ("CMakeLists.txt",)

    def test_a_broken_line_costs_only_itself(self, tmp_path: Path) -> None:
        graph = cmake(tmp_path, "this is no command\nadd_library(t SHARED a.cpp)\n", "a.cpp")
        assert sources(only(graph)) == {"a.cpp": ""}
        assert codes(graph) == {"build-syntax"}

    def test_recursion(self, tmp_path: Path) -> None:
        text = "function(f)\n f()\nendfunction()\nf()\ninclude(CMakeLists.txt)\nadd_subdirectory(.)\n"
        text += "add_library(t SHARED a.cpp)\n"
        graph = cmake(tmp_path, text, "a.cpp")
        assert only(graph).name == "t"
        assert codes(graph) == {"recursion"}

    def test_loops_without_end(self, tmp_path: Path) -> None:
        graph = cmake(tmp_path, "while(1)\n set(x 1)\nendwhile()\nadd_library(t SHARED a.cpp)\n", "a.cpp")
        assert only(graph).name == "t"
        assert codes(graph) == {"recursion"}

    def test_values_that_grow_without_end(self, tmp_path: Path) -> None:
        double = "set(x ${x} ${x})\n" * 60
        graph = cmake(tmp_path, f"set(x a)\n{double}add_library(t SHARED a.cpp)\n", "a.cpp")
        assert only(graph).name == "t"
        text = 'string(APPEND y "${y}${y}xxxxxxxxxxxxxxxx")\n' * 60
        cmake(tmp_path / "text", f"set(y a)\n{text}add_library(t SHARED a.cpp)\n", "a.cpp")

    def test_many_conditions(self, tmp_path: Path) -> None:
        branches = "".join(f"if(C{n})\n list(APPEND S s{n}.cpp)\n set(V {n})\nendif()\n" for n in range(60))
        names = [f"s{n}.cpp" for n in range(60)]
        graph = cmake(tmp_path, f"{branches}add_library(t SHARED ${{S}})\nadd_library(u SHARED a${{V}}.cpp)\n", *names)
        assert sources(only(graph, "t")) == {f"s{n}.cpp": f"C{n}" for n in range(60)}

    def test_a_regular_expression_that_never_ends(self, tmp_path: Path) -> None:
        text = f'string(REGEX REPLACE "(a+)+b" "" x "{"a" * 60}")\nadd_library(t SHARED a.cpp)\n'
        assert only(cmake(tmp_path, text, "a.cpp")).name == "t"

    def test_a_loop_of_links(self, tmp_path: Path) -> None:
        (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
        graph = cmake(tmp_path, "file(GLOB_RECURSE S *.cpp)\nadd_library(t SHARED ${S})\n", "a.cpp", "sub/b.cpp")
        assert sources(only(graph)) == {"a.cpp": "", "sub/b.cpp": ""}

    def test_a_glob_over_a_hundred_thousand_files(self, tmp_path: Path) -> None:
        folder = tmp_path / "many"
        folder.mkdir()
        for number in range(100_001):
            (folder / f"{number}.txt").touch()
        graph = cmake(tmp_path, "file(GLOB S many/*.txt)\nadd_library(t SHARED a.cpp ${S})\n", "a.cpp")
        assert codes(graph) == {"glob-too-large"}
        assert only(graph).name == "t"

    def test_a_file_that_is_too_large(self, tmp_path: Path) -> None:
        graph = cmake(tmp_path, "#" * (5 * 1024 * 1024), "a.cpp")
        assert codes(graph) == {"too-large"}

    def test_a_project_that_takes_too_long(self, tmp_path: Path) -> None:
        inner = "foreach(b RANGE 1999)\n set(x ${b})\nendforeach()\n"
        graph = cmake(tmp_path, f"add_library(t SHARED a.cpp)\nforeach(a RANGE 1999)\n{inner}endforeach()\n", "a.cpp")
        assert only(graph).name == "t"
        assert codes(graph) == {"build-limit"}
