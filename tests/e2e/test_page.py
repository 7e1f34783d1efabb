"""The report's page in a real browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from op_lint.page.data import Cell, PageData, PageFinding, PageKernel, PageOperator
from op_lint.page.render import render
from tests.check import copy_of, run
from tests.e2e.browser import drive, needs_browser, printed

pytestmark = needs_browser

EXAMPLE = Path(__file__).parents[2] / "examples" / "myops"
MANY = 3000


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> str:
    project = copy_of(EXAMPLE, tmp_path_factory.mktemp("page"))
    return run(project, "report", "--html", "-", "--torch-version", "2.13.0", "--jobs", "0").out


@pytest.fixture(scope="module")
def large() -> str:
    """A page with MANY operators: every third one has no CUDA kernel, and a finding."""
    keys = ("CPU", "CUDA", "Meta", "AutogradCPU", "AutogradCUDA")
    cells = (Cell("kernel", "kernel", "f", (0, 1)), Cell("missing", "missing"), Cell("fallback", "backend fallback"))
    operators = tuple(
        PageOperator(
            f"many{number % 4}::op{number:04}",
            f"many{number % 4}::op{number:04}(Tensor x) -> Tensor",
            ((0, number + 1),),
            (PageKernel("CPU", "f", "kernel", (0, number + 1), ""),),
            (0, int(number % 3 == 0), 0, 2, 2),
            (number // 3,) if number % 3 == 0 else (),
        )
        for number in range(MANY)
    )
    findings = tuple(
        PageFinding("OPL301", "missing-backend-kernel", "warning", f"no kernel {number}", (0, number), 1, (), ())
        for number in range(MANY // 3)
    )
    about = ("0", "many", "no torch", None, ("ops.cpp",), (True,), keys, 3, cells)
    return render(PageData(*about, operators, findings, {"OPL301": "No kernel."}, (), (), ()))


def test_the_page_shows_everything_and_loads_nothing(example: str, tmp_path: Path) -> None:
    said = drive(
        example,
        """
        said.refused = 0;
        addEventListener("securitypolicyviolation", () => said.refused++);
        said.title = $("h1").textContent;
        said.totals = all("#totals li").map((item) => item.textContent);
        said.bars = all(".bar .label").map((label) => label.textContent);
        said.rows = all(".row").map((row) => row.querySelector(".name").textContent);
        said.tabs = all("[role=tab]").map((tab) => tab.textContent);
        said.loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
        const landmarks = "header, nav, main, aside, section[aria-label], noscript, script, #said";
        said.outside = all("body *").filter(
          (each) => each.textContent.trim() && !each.closest(landmarks)).map((each) => each.id);
        said.unnamed = all("button, select, input").filter(
          (each) => !each.textContent.trim() && !each.getAttribute("aria-label") && !each.labels?.length).length;
        """,
        tmp_path,
    )
    assert said == {
        "refused": 0,
        "title": "myops",
        "totals": ["9operators", "12kernels", "8units", "8errors", "6warnings"],
        "bars": ["CPU7 / 9", "CUDA2 / 9", "Meta3 / 9", "AutogradCPU1 / 9", "AutogradCUDA1 / 9"],
        "rows": [
            "my_ops::gather_cols", "myops::add_", "myops::gather_rowno def", "myops::gather_rows", "myops::muladd",
            "myops::normalize", "myops::row_sum", "myops::scale", "myops::softenno def",
        ],
        "tabs": ["Matrix9", "Findings14", "Units and targets8", "Not understood0"],
        "loaded": [],
        "unnamed": 0,
        "outside": [],
    }  # fmt: skip


def test_an_operator_is_found_and_read_with_the_keyboard(example: str, tmp_path: Path) -> None:
    said = drive(
        example,
        """
        press(document.body, "/");
        said.searching = document.activeElement.id;
        type($("#search"), "NORMALIZE cuda");
        said.rows = all(".row .name").map((name) => name.textContent);
        press($("#search"), "Enter");
        said.focus = document.activeElement.id;
        press($("#grid"), "ArrowRight");
        const active = () => document.getElementById($("#grid").getAttribute("aria-activedescendant"));
        said.cell = active().getAttribute("aria-label");
        said.heading = $("#details h2").textContent;
        said.details = $("#details").innerText;
        said.address = location.hash;
        press($("#grid"), "Escape");
        said.closed = $("#details").textContent;
        press($("#search"), "Escape");
        said.all = all(".row").length;
        """,
        tmp_path,
    )
    assert said["searching"] == "search"
    assert said["rows"] == ["myops::normalize"]
    assert (said["focus"], said["cell"], said["heading"]) == ("grid", "CUDA: kernel", "myops::normalize")
    for text in (
        "csrc/ops.cpp:13",
        "csrc/cuda/kernels.cu:35",
        "OPL204 duplicate-kernel",
        "op-lint table myops::normalize",
    ):
        assert text in said["details"]
    assert said["address"] == "#q=NORMALIZE+cuda&op=myops%3A%3Anormalize&column=CUDA"
    assert (said["closed"], said["all"]) == ("", 9)


def test_views_change_with_tabs_and_filters(example: str, tmp_path: Path) -> None:
    said = drive(
        example,
        """
        $("#tab-matrix").focus();
        press($("#tab-matrix"), "ArrowRight");
        said.tab = document.activeElement.id;
        said.matrix = $("#matrix").hidden;
        said.findings = all(".finding").length;
        pick($("#severity"), "warning");
        said.warnings = all(".finding").length;
        pick($("#rule"), "OPL107");
        press($("#list"), "ArrowDown");
        said.finding = $("#details").innerText;
        $("#tab-units").click();
        said.units = $("#units").innerText;
        $("#tab-notes").click();
        said.notes = $("#notes").innerText;
        all(".bar")[1].querySelector(".fill-missing").click();
        said.missing = all(".row .name").map((name) => name.textContent);
        said.count = $("#count").textContent;
        $("#flawed").click();
        said.flawed = all(".row .name").map((name) => name.textContent);
        $("#reset").click();
        said.reset = all(".row").length;
        """,
        tmp_path,
    )
    assert (said["tab"], said["matrix"], said["findings"], said["warnings"]) == ("tab-findings", True, 14, 6)
    assert "OPL107 aliased-return" in said["finding"]
    assert "csrc/ops.cpp:14" in said["finding"]
    assert "myops._C\textension module\tsetuptools\tsetup.py:14" in said["units"]
    assert said["notes"] == "Everything was understood."
    assert said["count"] == "7 of 9 operators"
    assert "myops::muladd" in said["missing"]
    assert set(said["missing"]) - set(said["flawed"]) == {"myops::muladd"}
    assert said["reset"] == 9


def test_an_address_opens_the_page_where_it_was(example: str, tmp_path: Path) -> None:
    script = 'said.tab = $("[role=tab][aria-selected=true]").id; said.details = $("#details h2").textContent;'
    said = drive(example, script, tmp_path, address="tab=findings&finding=1")
    assert said == {"tab": "tab-findings", "details": "OPL201 impl-without-def"}
    said = drive(example, script, tmp_path, address="op=myops%3A%3Ascale&column=CPU")
    assert said == {"tab": "tab-matrix", "details": "myops::scale"}
    script = 'said.tab = $("[role=tab][aria-selected=true]").id;'
    assert drive(example, script, tmp_path, address="tab=nonsense&op=%00") == {"tab": "tab-matrix"}


def test_places_link_to_where_the_user_says(tmp_path: Path) -> None:
    project = copy_of(EXAMPLE, tmp_path)
    link = "https://example.org/blob/main/{path}#L{line}"
    page = run(project, "report", "--html", "-", "--torch-version", "2.13.0", "--jobs", "0", "--link", link).out
    script = 'said.links = all("#details a").map((link) => link.href); said.buttons = all("#details .place").length;'
    said = drive(page, script, tmp_path, address="op=myops%3A%3Aadd_&column=CPU")
    assert "https://example.org/blob/main/csrc/ops.cpp#L14" in said["links"]
    assert len(said["links"]) == said["buttons"]


FRAMED = """<!doctype html><body style="margin: 0"><iframe id="phone" width="390" height="844"></iframe>
<script>document.getElementById("phone").srcdoc = PAGE;</script></body>"""


def test_on_a_phone_the_matrix_is_in_sight(example: str, tmp_path: Path) -> None:
    page = FRAMED.replace("PAGE", json.dumps(example).replace("<", "\\u003c"))
    said = drive(
        page,
        """
        await new Promise((done) => $("#phone").addEventListener("load", done, { once: true }));
        const inside = $("#phone").contentDocument;
        const box = (selector) => inside.querySelector(selector).getBoundingClientRect();
        const boxes = (selector) => [...inside.querySelectorAll(selector)].map((each) => each.getBoundingClientRect());
        said.wide = inside.documentElement.scrollWidth;
        said.rows = boxes(".row .name").filter((name) => name.bottom < 844).length;
        said.cells = boxes("[aria-rowindex='9'] .cell").filter((cell) => cell.right < 390).length;
        const last = inside.querySelector("[aria-rowindex='9'] .cell");
        last.click();
        said.details = [box("#details").top > box("#heads").bottom, box("#details").bottom];
        said.bare = [box(".row.chosen").bottom <= box("#details").top, box(".row.chosen").top >= box("#heads").bottom];
        """,
        tmp_path,
    )
    assert said["wide"] == 390
    assert said["rows"] == 9
    assert said["cells"] == 5
    assert said["details"] == [True, 844]
    assert said["bare"] == [True, True]


def test_on_paper_there_is_every_row(large: str, tmp_path: Path) -> None:
    script = """
        dispatchEvent(new Event("beforeprint"));
        said.on_paper = all(".row").length;
        dispatchEvent(new Event("afterprint"));
        said.afterwards = all(".row").length;
    """
    said = drive(large, script, tmp_path)
    assert said["on_paper"] == MANY
    assert said["afterwards"] < 100
    pages = printed(large, tmp_path)
    assert MANY / 50 < pages < MANY / 20


def test_the_worst_comes_first_and_leads_to_its_operator(example: str, tmp_path: Path) -> None:
    said = drive(
        example,
        """
        $("#tab-findings").click();
        said.severities = all(".finding .severity").map((each) => each.textContent);
        press($("#list"), "Home");
        said.code = all(".finding code").length > 0 && !$("#list").textContent.includes("`");
        all("#details button").find((button) => button.textContent.includes("::")).click();
        said.tab = $("[role=tab][aria-selected=true]").id;
        said.heading = $("#details h2").textContent;
        type($("#search"), "no such thing");
        said.instead = [$("#grid").hidden, $("#no-operator").textContent];
        $("#reset").click();
        said.back = [$("#grid").hidden, document.activeElement.id, all(".row").length];
        """,
        tmp_path,
    )
    assert said["severities"] == ["error"] * 8 + ["warning"] * 6
    assert said["code"]
    assert (said["tab"], said["heading"]) == ("tab-matrix", "myops::scale")
    assert said["instead"][0]
    assert "Show all" in said["instead"][1]
    assert said["back"] == [False, "grid", 9]


def luminance(colour: str) -> float:
    """The relative luminance of `rgb(r, g, b)`, as WCAG defines it."""
    channels = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize(("flags", "theme"), [((), "light"), (("--force-dark-mode",), "dark")])
def test_light_and_dark_are_readable(example: str, tmp_path: Path, flags: tuple[str, ...], theme: str) -> None:
    said = drive(
        example,
        """
        const read = () => {
          const background = (element) => {
            for (let each = element; each; each = each.parentElement) {
              const colour = getComputedStyle(each).backgroundColor;
              if (colour !== "rgba(0, 0, 0, 0)") return colour;
            }
          };
          const texts = [".space", ".name .text", "#torch", ".said", "#tab-findings", ".severity", "#count",
            ".bar .label span", ".place", ".note", ".finding.chosen .where", ".row.chosen .space", ".row.chosen .said"];
          return texts.map((text) => [text, getComputedStyle($(text)).color, background($(text))]);
        };
        press($("#grid"), "ArrowDown");
        $("#tab-findings").click();
        press($("#list"), "ArrowDown");
        said.first = [document.documentElement.dataset.theme, read()];
        $("#theme").click();
        said.second = [document.documentElement.dataset.theme, read()];
        """,
        tmp_path,
        flags=flags,
    )
    other = {"light": "dark", "dark": "light"}[theme]
    assert [said["first"][0], said["second"][0]] == [theme, other]
    for _, colours in (said["first"], said["second"]):
        for text, front, back in colours:
            dark, light = sorted((luminance(front), luminance(back)))
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, front, back)


def test_of_three_thousand_operators_only_those_in_sight_are_drawn(large: str, tmp_path: Path) -> None:
    said = drive(
        large,
        """
        said.drawn = all(".row").length;
        press($("#grid"), "End", { ctrlKey: true });
        said.at_the_end = $("#details h2").textContent;
        type($("#search"), "op29");
        said.found = $("#count").textContent;
        type($("#search"), "");
        pick($("#key"), "CUDA"); pick($("#state"), "missing");
        said.missing = $("#count").textContent;
        $("#tab-findings").click();
        said.finding_rows = all(".finding").length;
        said.sideways = document.documentElement.scrollWidth <= innerWidth;
        """,
        tmp_path,
    )
    assert said["drawn"] < 100
    assert said["at_the_end"] == "many3::op2999"
    assert said["found"] == f"100 of {MANY:,} operators"
    assert said["missing"] == f"{MANY // 3:,} of {MANY:,} operators"
    assert 0 < said["finding_rows"] < 100
    assert said["sideways"]
