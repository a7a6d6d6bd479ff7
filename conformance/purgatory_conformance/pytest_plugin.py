"""The plugin for pytest: ``pytest --purgatory SUBJECT`` adds a test for each rule.

The tests of one component share a check, which the first of them runs. How a test ends is what
JUnit reports of ``purgatory check`` say of the rule, so that some test fails exactly where the
exit code of ``purgatory check`` is not zero:

    passed     the rule was put to the test often enough, and held
    failed     the rule is broken; or the verdict is inconclusive because of this rule
    skipped    the rule is no MUST, and was hardly put to the test
    xfailed    the rule is broken as a declared deviation says

Each component has one test more, ``verdict``: it fails where the verdict is not conformant and no
test of a rule says so, for example where the subject gave no answers.

pytest imports this module at every start, also where nobody asks for it. So everything else is
imported in the functions that need it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from purgatory_conformance.checking import Check
    from purgatory_conformance.reporting.answers import Answer
    from purgatory_conformance.reporting.results import Results
    from purgatory_spec.profiles import Component

_PARTS = pytest.StashKey["list[_Part]"]()
_WORK_FOLDER = Path("purgatory-work")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("purgatory", "conformance with the purgatory specification")
    group.addoption(
        "--purgatory",
        action="append",
        default=[],
        metavar="SUBJECT",
        help="Add a test for each rule that SUBJECT is judged by: a registered name, a folder with "
        "a purgatory.toml, or module:factory. May be given more than once.",
    )
    group.addoption(
        "--purgatory-suite",
        choices=["quick", "standard", "long"],
        default="quick",
        help="How much to generate (default: quick).",
    )
    group.addoption(
        "--purgatory-seed",
        type=int,
        default=1,
        help="Equal seeds give equal cases (default: 1, the same ones every time).",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Name the marker of the added tests.

    Raises:
        pytest.UsageError: the suite is asked for, and a package that it needs is missing.
    """
    if config.option.purgatory:
        from purgatory_conformance.starting import what_is_missing

        if sentence := what_is_missing():
            raise pytest.UsageError(f"--purgatory: {sentence}")
        config.addinivalue_line("markers", "purgatory: a rule of the purgatory specification")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave the work folder out: packages that adapters run bring tests of their own."""
    return True if collection_path.name == _WORK_FOLDER.name else None


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say by which suite the subjects are judged."""
    if not config.option.purgatory:
        return []
    from purgatory_conformance.version import PACKAGE_VERSION, SUITE_VERSION

    suite = f"{config.option.purgatory_suite} suite, version {SUITE_VERSION}"
    seed = f"seed {config.option.purgatory_seed}"
    subjects = ", ".join(config.option.purgatory)
    return [f"purgatory: {subjects}; {suite} (purgatory-spec {PACKAGE_VERSION}), {seed}"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Add the tests behind those of the user, before any option selects among them."""
    words: list[str] = session.config.option.purgatory
    parts = [part for word in words for part in _parts(session, word)]
    session.config.stash[_PARTS] = parts
    for part in parts:
        tests = list(part.collect())
        for test in tests:
            session.ihook.pytest_itemcollected(item=test)
        report = pytest.CollectReport(part.nodeid, "passed", None, list(tests))
        session.ihook.pytest_collectreport(report=report)
        items += tests


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Tell each part which of its rules are still asked for, after all selecting."""
    for part in session.config.stash.get(_PARTS, []):
        part.selected = frozenset(
            item.rule for item in session.items if isinstance(item, RuleTest) and item.part is part
        )


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Close the subjects; keep the results where one process has all of them."""
    parts = session.config.stash.get(_PARTS, [])
    for part in parts:
        part.check.opened.subject.close()
    if not hasattr(session.config, "workerinput"):
        _keep(parts)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say where the results are."""
    checks = {part.check for part in config.stash.get(_PARTS, []) if part.results}
    for folder in sorted(str(check.folder) for check in checks):
        terminalreporter.write_line(f"purgatory: {folder} has report.html and results.jsonl")


class _Part(pytest.Collector):
    """A component of a subject: the tests of its rules, and the check that they share."""

    def __init__(self, *, check: Check, component: Component, **settings: Any) -> None:
        """Take what is to be judged."""
        super().__init__(**settings)
        self.check = check
        self.component = component
        self.selected: frozenset[str] = frozenset()
        self.results: Results | None = None
        self.error: Exception | None = None

    def collect(self) -> Iterator[RuleTest]:
        """Yield a test for each rule that the subject is judged by, and the verdict."""
        from purgatory_conformance.subjects.subject import SubjectFailure, profile_of
        from purgatory_judge.registry import judged

        try:
            profile = profile_of(self.check.opened.subject, self.component)
            rules = [rule.id for rule in judged(self.component).judged_rules(profile)]
        except SubjectFailure:
            rules = []
        for rule in (*rules, ""):
            yield RuleTest.from_parent(self, name=rule or "verdict", rule=rule)

    def answers(self) -> tuple[Answer, ...]:
        """Return the ends of the tests; the first caller has the subject judged."""
        from purgatory_conformance.reporting.answers import answers_of

        if self.error is not None:
            raise self.error
        if self.results is None:
            try:
                self.results = self._judged()
            except Exception as error:
                self.error = error
                raise
        return answers_of(self.results)

    def _judged(self) -> Results:
        from dataclasses import replace

        from purgatory_conformance.checking import hold_to_vectors, judged

        hold_to_vectors(self.component)
        rules = frozenset() if "" in self.selected else self.selected
        return judged(replace(self.check, rules=rules), self.component)


class RuleTest(pytest.Item):
    """The test of one rule; ``rule`` is empty for the verdict on a component."""

    def __init__(self, *, rule: str, **settings: Any) -> None:
        """Take the rule of the test."""
        super().__init__(**settings)
        assert isinstance(self.parent, _Part)
        self.part = self.parent
        self.rule = rule
        self.add_marker("purgatory")
        if self.config.pluginmanager.has_plugin("xdist"):
            self.add_marker(pytest.mark.xdist_group(self.part.nodeid))

    def runtest(self) -> None:
        """Fail, skip or pass as the check says of the rule."""
        answers = self.part.answers()
        if self.rule:
            mine = [answer for answer in answers if answer.rule == self.rule]
        else:
            mine = [answer for answer in answers if answer.rule not in self.part.selected - {""}]
        for answer in mine:
            self._end_as(answer)

    def _end_as(self, answer: Answer) -> None:
        from purgatory_conformance.reporting.answers import Kind

        if answer.is_bad:
            raise _Told(answer)
        if self.rule and answer.kind is Kind.SKIPPED:
            pytest.skip(answer.message)
        if self.rule and answer.deviates:
            pytest.xfail(answer.text)

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None
    ) -> str:
        """Return the rule, the expected outcome, the shrunk steps, and the command to replay."""
        from purgatory_conformance.problems import Problem
        from purgatory_conformance.work_folder import ForeignFolder

        if isinstance(excinfo.value, _Told | Problem | ForeignFolder):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the origin of the test: no file of tests."""
        return self.path, None, self.nodeid


class _Told(Exception):
    """A failed test that says all there is to say; no traceback adds to it."""

    def __init__(self, answer: Answer) -> None:
        """Tell the answer of a rule's test."""
        told = (answer.name, answer.message, answer.text)
        super().__init__("\n".join(line for line in told if line))


def _parts(session: pytest.Session, word: str) -> Iterator[_Part]:
    """Yield the components of a subject.

    Raises:
        pytest.UsageError: there is no such subject, or it cannot be opened.
    """
    from purgatory_conformance.checking import Check, offered
    from purgatory_conformance.opening import open_subject
    from purgatory_conformance.problems import exit_code_of

    options = session.config.option
    try:
        opened = open_subject(word, work_folder=_WORK_FOLDER)
    except Exception as error:
        if exit_code_of(error) is None:
            raise
        raise pytest.UsageError(f"--purgatory {word}: {error}") from None
    check = Check(opened, options.purgatory_suite, options.purgatory_seed, _WORK_FOLDER)
    for component in offered(opened):
        yield _Part.from_parent(
            session,
            name=f"{opened.name}::{component.value}",
            nodeid=f"purgatory::{opened.name}::{component.value}",
            check=check,
            component=component,
        )


def _keep(parts: list[_Part]) -> None:
    """Write results and reports of the subjects that were judged."""
    if not parts:
        return
    from purgatory_conformance.checking import keep

    for check in dict.fromkeys(part.check for part in parts):
        results = [part.results for part in parts if part.check is check and part.results]
        if results:
            keep(check, results)
