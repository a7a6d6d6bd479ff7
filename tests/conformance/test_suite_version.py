"""Whatever can change a verdict raises the version of the suite."""

# Four fingerprints stand beside the version. Where one has changed since the last release, the
# version is raised in ``purgatory_conformance/version.py``, and the new entry has the new
# fingerprints: a message of these tests prints them.

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from purgatory_conformance.generation.channel_muting import table as channel_muting_table
from purgatory_conformance.generation.memory_pool import table as memory_pool_table
from purgatory_conformance.generation.purgatory import table as purgatory_table
from purgatory_conformance.generation.source import SeededSource
from purgatory_conformance.generation.timer import table as timer_table
from purgatory_conformance.knowledge import all_vectors
from purgatory_conformance.problems import EXIT_USAGE
from purgatory_conformance.running.campaign import SUITES
from purgatory_conformance.running.case_run import run_case
from purgatory_conformance.specimens.profile_subjects import profile_subjects
from purgatory_conformance.subjects.declaration import InvalidDeclaration, read_declaration
from purgatory_conformance.subjects.subject import Subject, profile_of
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate
from purgatory_conformance.version import (
    PACKAGE_VERSION,
    SUITE_VERSION,
    SUITE_VERSIONS,
    changes_after,
)
from purgatory_judge.components import PROFILES
from purgatory_model.timer import TimerModel
from purgatory_spec.cases import Case
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Clock, Component, Profile, TimerProfile
from purgatory_spec.reasons import Reason
from purgatory_spec.requirements import Level, Requirement, all_requirements
from tests.conformance.command import purgatory

DRAWN_CASES = 12
"""The number of cases of each profile that are fingerprinted as they are drawn."""

JUDGED_CASES = 2
"""The number of cases of each known subject that are fingerprinted with their verdicts."""

MOST_OPERATIONS = 40


# What is fingerprinted


def digest(parts: Iterable[object]) -> str:
    """The beginning of the SHA-256 of values; sets are sorted."""
    found = hashlib.sha256()
    for part in parts:
        found.update(msgspec.json.encode(part, order="deterministic") + b"\n")
    return found.hexdigest()[:16]


def rules(requirements: Iterable[Requirement]) -> Iterator[object]:
    """Yield the fields that decide whether a rule is judged: titles and texts may be improved."""
    for rule in requirements:
        yield rule.id, rule.level, rule.condition


def golden_vectors(vectors: Iterable[Case]) -> Iterator[object]:
    """The vectors, but for their titles."""
    for vector in vectors:
        yield msgspec.structs.replace(vector.header, title=""), vector.steps


def generated(profiles: Iterable[tuple[Component, Profile]]) -> Iterator[object]:
    """The budgets, and the cases that subjects of these profiles are asked."""
    yield [(name, vars(budget)) for name, budget in SUITES.items()]
    for component, profile in profiles:
        for number in range(DRAWN_CASES):
            case = drawn(component, profile, number)
            yield component, profile, case.configuration, case.operations


def judged(subjects: Iterable[tuple[Component, Subject]]) -> Iterator[object]:
    """Yield the judgement of each subject: the verdict, the blamed rule, the visits of rules."""
    for component, subject in subjects:
        profile = profile_of(subject, component)
        for number in range(JUDGED_CASES):
            case = drawn(component, profile, number)
            run = run_case(subject, "judged", case.configuration, case.operations)
            blamed = (run.divergence.rule, run.divergence.kind) if run.divergence else None
            yield run.verdict, blamed, dict(run.visits)
        subject.close()


def drawn(component: Component, profile: Profile, number: int) -> Candidate:
    support, source = support_of(component), SeededSource(f"version-{number}")
    configuration = support.draw_configuration(profile, source, frozenset())
    operations = support.draw_operations(
        configuration, profile, source, most=MOST_OPERATIONS, wanted=frozenset()
    )
    return Candidate(configuration, operations)


def known_subjects() -> Iterator[tuple[Component, Subject]]:
    """A subject for each value of each choice, and its sibling, which most often breaks a rule."""
    for each in profile_subjects():
        yield each.component, each.make()
        yield each.component, each.sibling()


def known_profiles() -> Iterator[tuple[Component, Profile]]:
    """The weakest profile of each component, a real clock, and those of the known subjects."""
    yield from ((component, kind()) for component, kind in PROFILES.items())
    yield Component.TIMER, TimerProfile(clock=Clock.WALL)
    different: dict[tuple[Component, Profile], None] = {}
    for component, subject in known_subjects():
        different[component, profile_of(subject, component)] = None
        subject.close()
    yield from different


def fingerprints() -> dict[str, str]:
    return {
        "rules": digest(rules(all_requirements())),
        "vectors": digest(golden_vectors(all_vectors())),
        "cases": digest(generated(known_profiles())),
        "verdicts": digest(judged(known_subjects())),
    }


# The version


@pytest.mark.slow
def test_what_can_change_a_verdict_raises_the_version() -> None:
    """They are the recorded ones, or the version has to be raised."""
    latest = SUITE_VERSIONS[-1]
    found = fingerprints()
    changed = [part for part, is_now in found.items() if getattr(latest, part) != is_now]
    assert not changed, (
        f"{', '.join(changed)} changed since suite version {latest.number} was recorded. A verdict "
        "may change by that. Where that version is released, append to SUITE_VERSIONS, in "
        f"purgatory_conformance/version.py, a version {latest.number + 1} that says what changes "
        "for a subject; otherwise say it in the entry there is. The fingerprints are now "
        + ", ".join(f'{part}="{is_now}"' for part, is_now in found.items())
    )


def test_versions_are_numbered_and_each_differs_from_the_one_before() -> None:
    assert [each.number for each in SUITE_VERSIONS] == list(range(1, len(SUITE_VERSIONS) + 1))
    assert str(len(SUITE_VERSIONS)) == SUITE_VERSION
    assert all(each.change for each in SUITE_VERSIONS)
    marks = [(each.rules, each.vectors, each.cases, each.verdicts) for each in SUITE_VERSIONS]
    assert all(earlier != later for earlier, later in pairwise(marks))


# Controls: each fingerprint sees a change of its own kind, and of no other


def test_a_rule_that_is_judged_otherwise_is_seen() -> None:
    """The first changes the fingerprint, and the second does not."""
    first, *others = all_requirements()
    assert first.level is Level.MUST
    before = digest(rules([first, *others]))
    weaker = msgspec.structs.replace(first, level=Level.SHOULD)
    clearer = msgspec.structs.replace(first, title="clearer", text="clearer")
    assert digest(rules([weaker, *others])) != before
    assert digest(rules([clearer, *others])) == before


def test_another_recorded_outcome_is_seen() -> None:
    vector = all_vectors()[0]
    before = digest(golden_vectors([vector]))
    outcome = vector.steps[-1].outcome
    assert isinstance(outcome, Outcome)
    other = msgspec.structs.replace(outcome, observed={**outcome.observed, "size": 99})
    step = msgspec.structs.replace(vector.steps[-1], outcome=other)
    changed = Case(vector.header, (*vector.steps[:-1], step))
    titled = Case(msgspec.structs.replace(vector.header, title="another"), vector.steps)
    assert digest(golden_vectors([changed])) != before
    assert digest(golden_vectors([titled])) == before


@pytest.mark.parametrize(
    ("component", "module", "rows"),
    [
        (Component.TIMER, timer_table, "TIMER_TABLE"),
        (Component.PURGATORY, purgatory_table, "PURGATORY_TABLE"),
        (Component.MEMORY_POOL, memory_pool_table, "MEMORY_POOL_TABLE"),
        (Component.CHANNEL_MUTING, channel_muting_table, "CHANNEL_MUTING_TABLE"),
    ],
)
def test_a_row_that_is_drawn_more_often_is_seen(
    component: Component, module: ModuleType, rows: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    weakest = (component, PROFILES[component]())
    before = digest(generated([weakest]))
    assert digest(generated([weakest])) == before
    first, *others = getattr(module, rows)
    monkeypatch.setattr(module, rows, (replace(first, weight=2 * first.weight), *others))
    assert digest(generated([weakest])) != before


def test_another_budget_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest(generated([]))
    monkeypatch.setitem(SUITES, "quick", replace(SUITES["quick"], minimum_visits=19))
    assert digest(generated([])) != before


def test_a_model_that_expects_something_else_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fingerprint has changed."""

    def verdicts() -> str:
        right = next(each for each in profile_subjects() if each.component is Component.TIMER)
        return digest(judged([(Component.TIMER, right.make())]))

    before = verdicts()
    assert verdicts() == before
    monkeypatch.setattr(TimerModel, "refusal", lambda *_: Reason.CLOSED)
    assert verdicts() != before


# A declaration may pin the version


def declaration(folder: Path, pinned: str) -> Path:
    path = folder / "purgatory.toml"
    path.write_text(f'[subject]\nname = "mine"\npython = "mine:make"\n{pinned}', "utf-8")
    return path


@pytest.mark.parametrize("pinned", ["", f"[suite]\nversion = {SUITE_VERSION}\n"])
def test_a_declaration_pins_this_version_or_none(tmp_path: Path, pinned: str) -> None:
    assert read_declaration(declaration(tmp_path, pinned)).name == "mine"


def test_a_pin_of_a_later_version_asks_for_a_later_distribution(tmp_path: Path) -> None:
    path = declaration(tmp_path, "[suite]\nversion = 999\n")
    with pytest.raises(InvalidDeclaration) as caught:
        read_declaration(path)
    assert str(caught.value) == (
        f"{path}: suite version 999 is pinned, and purgatory-spec {PACKAGE_VERSION} has version "
        f"{SUITE_VERSION}: install a later purgatory-spec, or pin {SUITE_VERSION}"
    )


def test_a_pin_of_an_earlier_version_says_what_has_changed(tmp_path: Path) -> None:
    path = declaration(tmp_path, "[suite]\nversion = 0\n")
    with pytest.raises(InvalidDeclaration) as caught:
        read_declaration(path)
    assert str(caught.value) == (
        f"{path}: suite version 0 is pinned, and purgatory-spec {PACKAGE_VERSION} has version "
        f"{SUITE_VERSION}, so that a verdict may be another one: {'; '.join(changes_after(0))}. "
        f"Pin {SUITE_VERSION} when you have seen the new verdict, "
        "or install an earlier purgatory-spec"
    )


def test_a_check_under_another_pin_judges_nothing(tmp_path: Path) -> None:
    """The exit code is that of wrong usage, the pin is named, and no report is written."""
    declaration(tmp_path, "[suite]\nversion = 999\n")
    result = purgatory(tmp_path, "check", ".")
    assert result.returncode == EXIT_USAGE
    assert "suite version 999 is pinned" in result.stderr
    assert not (tmp_path / "purgatory-work").exists()
