"""What CMake makes of lists, functions, properties and expressions: its own targets and sources against op-lint's.

Every case is a folder of one project, which is configured once. What CMake compiles is read from its File API.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from op_lint.build import read_build
from op_lint.build.questions import Questions
from op_lint.files import find_sources


def tool(name: str) -> str | None:
    """A program, also where it was installed beside this interpreter."""
    return shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", ""), str(Path(sys.executable).parent))))


pytestmark = pytest.mark.skipif(
    tool("cmake") is None or tool("ninja") is None or tool("g++") is None,
    reason="not here: cmake, ninja or g++",
)

CASES = {
    "parse_arguments": """
        function(add_ops name)
          cmake_parse_arguments(A "SHARED" "KIND" "SOURCES;MORE" ${ARGN})
          add_library(${name} ${A_KIND} ${A_SOURCES})
          if(A_MORE)
            target_sources(${name} PRIVATE ${A_MORE})
          endif()
        endfunction()
        add_ops(@t SOURCES a.cpp b.cpp KIND SHARED MORE c.cpp)""",
    "parse_argv": """
        function(add_ops)
          cmake_parse_arguments(PARSE_ARGV 1 A "" "" "SOURCES")
          add_library(${ARGV0} STATIC ${A_SOURCES} ${A_UNPARSED_ARGUMENTS})
        endfunction()
        add_ops(@t a.cpp SOURCES b.cpp)""",
    "zip_lists": """
        set(names one two)
        set(files a.cpp b.cpp)
        foreach(n f IN ZIP_LISTS names files)
          add_library(@${n} STATIC ${f})
        endforeach()
        foreach(p IN ZIP_LISTS names files)
          add_library(@again_${p_0} STATIC ${p_1})
        endforeach()""",
    "alias": """
        add_library(@t STATIC a.cpp)
        if(NOT TARGET ops::@t)
          add_library(ops::@t ALIAS @t)
        endif()
        target_sources(@t PRIVATE b.cpp)""",
    "interface_sources": """
        add_library(@i INTERFACE)
        target_sources(@i INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/a.cpp)
        add_library(@t SHARED b.cpp)
        target_link_libraries(@t PRIVATE @i)""",
    "objects_by_interface": """
        add_library(@o OBJECT a.cpp)
        add_library(@i INTERFACE)
        target_sources(@i INTERFACE $<TARGET_OBJECTS:@o>)
        add_library(@t SHARED b.cpp)
        target_link_libraries(@t PRIVATE @i)""",
    "language": """
        set(command add_library)
        cmake_language(CALL ${command} @t STATIC a.cpp)
        cmake_language(EVAL CODE "target_sources(@t PRIVATE b.cpp)")
        cmake_language(DEFER CALL target_sources @t PRIVATE c.cpp)""",
    "sources_property": """
        add_library(@t STATIC a.cpp)
        set_property(TARGET @t APPEND PROPERTY SOURCES b.cpp)
        get_target_property(found @t SOURCES)
        add_library(@u STATIC ${found} c.cpp)
        set_target_properties(@u PROPERTIES SOURCES c.cpp)""",
    "global_property": """
        set_property(GLOBAL APPEND PROPERTY @sources a.cpp)
        set_property(GLOBAL APPEND PROPERTY @sources b.cpp)
        get_property(found GLOBAL PROPERTY @sources)
        add_library(@t STATIC ${found})""",
    "unity": """
        add_library(@t STATIC a.cpp b.cpp)
        set_target_properties(@t PROPERTIES UNITY_BUILD ON)""",
    "transform": """
        set(names a b c)
        list(TRANSFORM names APPEND ".cpp" AT 0 1)
        list(FILTER names INCLUDE REGEX "cpp$")
        list(TRANSFORM names PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
        add_library(@t STATIC ${names})
        set(more a.txt b.txt)
        list(TRANSFORM more REPLACE "txt$" "cpp" REGEX "^a" OUTPUT_VARIABLE changed)
        list(REMOVE_ITEM changed b.txt)
        add_library(@u STATIC ${changed})""",
    "lists": """
        set(l c.cpp a.cpp b.cpp a.cpp)
        list(REMOVE_DUPLICATES l)
        list(SORT l)
        list(POP_FRONT l first)
        list(SUBLIST l 1 1 part)
        list(INSERT part 0 ${first})
        add_library(@t STATIC ${part})""",
    "blocks": """
        set(s a.cpp)
        block(SCOPE_FOR VARIABLES PROPAGATE s)
          list(APPEND s b.cpp)
          set(hidden c.cpp)
        endblock()
        add_library(@t STATIC ${s} ${hidden})""",
    "returned": """
        function(collect out)
          set(${out} a.cpp b.cpp)
          return(PROPAGATE ${out})
        endfunction()
        function(give out)
          set(${out} c.cpp PARENT_SCOPE)
        endfunction()
        collect(s)
        give(u)
        add_library(@t STATIC ${s} ${u})""",
    "matches": """
        set(s)
        foreach(f a.cpp b.cpp c.cu)
          if(f MATCHES "^(.)[.]cpp$" AND NOT CMAKE_MATCH_1 STREQUAL "b")
            list(APPEND s ${CMAKE_MATCH_1}.cpp)
          endif()
        endforeach()
        add_library(@t STATIC ${s})""",
    "expressions": """
        add_library(@t STATIC a.cpp $<$<BOOL:ON>:b.cpp> $<$<BOOL:OFF>:c.cpp>)
        add_library(@u STATIC $<IF:$<STREQUAL:x,x>,a.cpp,b.cpp>)
        add_library(@v STATIC $<TARGET_PROPERTY:@u,SOURCES> c.cpp)""",
    "files": """
        file(STRINGS inner/list.txt named)
        add_library(@t STATIC ${named})
        file(READ inner/list.txt read)
        string(REPLACE "\\n" ";" read "${read}")
        add_library(@r STATIC ${read})
        file(GLOB found RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS "[ab].cpp")
        add_library(@u STATIC ${found})""",
    "named_by_names": """
        set(cpu_SOURCES a.cpp)
        set(gpu_SOURCES b.cpp)
        foreach(d cpu gpu)
          list(APPEND all ${${d}_SOURCES})
        endforeach()
        string(JOIN ";" joined ${all} c.cpp)
        add_library(@t STATIC ${joined})""",
    "overridden": """
        macro(@add name)
          add_library(${name} STATIC ${ARGN})
        endmacro()
        function(wrapped name)
          @add(${name} ${ARGV1} ${ARGV2})
        endfunction()
        wrapped(@t a.cpp b.cpp c.cpp)""",
    "arithmetic": """
        math(EXPR n "(1 << 2) | 1")
        if(n EQUAL 5)
          list(APPEND s a.cpp)
        endif()
        math(EXPR h "0x10 - 6")
        if(h EQUAL 10)
          list(APPEND s b.cpp)
        endif()
        foreach(i RANGE 2 8 3)
          list(APPEND numbers ${i})
        endforeach()
        if("${numbers}" STREQUAL "2;5;8")
          list(APPEND s c.cpp)
        endif()
        add_library(@t STATIC ${s})""",
    "header_only": """
        add_library(@t STATIC a.cpp b.cpp)
        set_source_files_properties(b.cpp PROPERTIES HEADER_FILE_ONLY ON)""",
    "generated": """
        configure_file(a.cpp ${CMAKE_CURRENT_BINARY_DIR}/made.cpp COPYONLY)
        add_library(@t STATIC ${CMAKE_CURRENT_BINARY_DIR}/made.cpp b.cpp)""",
    "separated": """
        set(text "a.cpp b.cpp")
        separate_arguments(text)
        separate_arguments(more UNIX_COMMAND "c.cpp")
        add_library(@t STATIC ${text} ${more})""",
    "fetched": """
        include(FetchContent)
        FetchContent_Declare(@inner SOURCE_DIR ${CMAKE_CURRENT_SOURCE_DIR}/inner)
        FetchContent_MakeAvailable(@inner)
        add_library(@t STATIC a.cpp)""",
    "quoted": """
        set(s "a.cpp" "b.cpp")
        add_library(@t STATIC "${s}")
        set(empty "")
        add_library(@u STATIC c.cpp ${empty} "${empty}")""",
    "from_below": """
        add_library(@t STATIC a.cpp)
        add_subdirectory(inner)
        target_sources(@t PRIVATE ${inner_sources})""",
    "included": """
        include(inner/more.cmake)
        add_library(@t STATIC ${more_sources})
        include(nothing_here OPTIONAL)""",
    "scan": """
        set(rest a.cpp b.cpp)
        while(rest)
          list(POP_BACK rest last)
          list(APPEND s ${last})
        endwhile()
        list(LENGTH s n)
        if(n GREATER_EQUAL 2 AND NOT (n LESS 2))
          add_library(@t STATIC ${s})
        endif()""",
}

PARTLY_KNOWN = {"matches", "expressions"}
"""Cases with sources that depend on what is not evaluated, which the target says of itself."""

INNER = {
    "inner/CMakeLists.txt": "set(inner_sources ${CMAKE_CURRENT_SOURCE_DIR}/d.cpp PARENT_SCOPE)\n"
    "add_library(@inner_ops STATIC d.cpp)\n",
    "inner/more.cmake": "set(more_sources ${CMAKE_CURRENT_LIST_DIR}/d.cpp)\n",
    "inner/list.txt": "a.cpp\nb.cpp\n",
    "inner/d.cpp": "",
}


@pytest.fixture(scope="module")
def configured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, set[str]]]]:
    """The folder of all cases, and for each the targets and sources that CMake compiles; of copies the originals."""
    folder = tmp_path_factory.mktemp("targets")
    binaries = folder / "build"
    (binaries / ".cmake/api/v1/query").mkdir(parents=True)
    (binaries / ".cmake/api/v1/query/codemodel-v2").touch()
    for name, text in CASES.items():
        files = {"CMakeLists.txt": text, **dict.fromkeys(("a.cpp", "b.cpp", "c.cpp"), ""), **INNER}
        for path, content in files.items():
            file = folder / "sources" / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content.replace("@", f"{name}_"))
    top = "".join(f"add_subdirectory({name})\n" for name in CASES)
    (folder / "sources/CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.25)\nproject(all CXX)\n{top}")
    command = [tool("cmake") or "", "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", "-DCMAKE_CXX_COMPILER=g++"]
    done = subprocess.run(
        [*command, "-S", str(folder / "sources"), "-B", str(binaries)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder / "sources", _compiled(binaries / ".cmake/api/v1/reply")


def _compiled(replies: Path) -> dict[str, dict[str, set[str]]]:
    found: dict[str, dict[str, set[str]]] = {name: {} for name in CASES}
    for reply in replies.glob("target-*.json"):
        target = json.loads(reply.read_text())
        case = target["paths"]["source"].partition("/")[0]
        if target["type"].endswith("_LIBRARY") and target["type"] != "INTERFACE_LIBRARY":
            compiled = [each["path"] for each in target["sources"] if "compileGroupIndex" in each]
            own = [each["path"] for each in target["sources"]] if "unity" in reply.name else compiled
            found[case][target["name"]] = {
                each.replace("made.cpp", "a.cpp").rpartition("/")[2]
                for each in own
                if "unity_" not in each.rpartition("/")[2]
            }
    return found


@pytest.mark.parametrize("name", CASES)
def test_targets_and_sources(name: str, configured: tuple[Path, dict[str, dict[str, set[str]]]]) -> None:
    folder, expected = configured
    tree = find_sources(folder / name)
    graph = read_build(folder / name, tree.build, tree.cpp)
    questions = Questions(graph)
    found: dict[str, set[str]] = {}
    for target in graph.targets:
        if target.name in expected[name]:
            own = {source.path for source in target.sources}
            paths = questions.objects_of(target) if target.is_loaded else own
            found[target.name] = {path.rpartition("/")[2] for path in paths}
            if target.incomplete:  # what is not known may be the rest
                assert name in PARTLY_KNOWN
                assert found[target.name] < expected[name][target.name]
                found[target.name] = expected[name][target.name]
    assert found == expected[name]
