"""JUnit's XML: a test suite for each file, a failed test for each finding."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TextIO
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from op_lint.findings import Finding
from op_lint.report import Report

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML document can hold, not even as a reference."""


def write(report: Report, stream: TextIO) -> None:
    """Write the test suites; where nothing is wrong, one with a test that passed: some services refuse an empty one."""
    suites = Element("testsuites", name="op-lint")
    for path, findings in groupby(report.findings, lambda finding: report.sources.shown(finding.place.path)):
        suite = SubElement(suites, "testsuite", name=_text(path))
        for finding in findings:
            _add_failure(suite, report, finding)
    for failure in report.failures:
        suite = SubElement(suites, "testsuite", name="op-lint")
        case = SubElement(suite, "testcase", name="op-lint", classname="op-lint", time="0")
        SubElement(case, "error", message=_text(failure), type="failure")
    if not len(suites):
        suite = SubElement(suites, "testsuite", name="op-lint")
        SubElement(suite, "testcase", name="nothing found", classname="op-lint", time="0")
    for element in (*suites, suites):
        _count(element)
    indent(suites)
    stream.write('<?xml version="1.0" encoding="utf-8"?>\n')
    ElementTree(suites).write(stream, encoding="unicode")
    stream.write("\n")


def _add_failure(suite: Element, report: Report, finding: Finding) -> None:
    location = report.sources.location(finding.place)
    named = f"{finding.code} {finding.name}"
    case = SubElement(
        suite,
        "testcase",
        name=_text(f"{named} ({location.line}:{location.column})"),
        classname=_text(location.path),
        file=_text(location.path),
        line=str(location.line),
        time="0",
    )
    failure = SubElement(case, "failure", message=_text(finding.message), type=finding.severity.value)
    related = (f"{report.sources.location(each.place)}: {each.message}" for each in finding.related)
    lines = (f"{location}: {finding.severity.value} {named}", finding.message, *related, *finding.notes)
    failure.text = _text("\n".join(lines))


def _count(element: Element) -> None:
    element.set("tests", str(len(list(element.iter("testcase")))))
    element.set("failures", str(len(list(element.iter("failure")))))
    element.set("errors", str(len(list(element.iter("error")))))


def _text(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
