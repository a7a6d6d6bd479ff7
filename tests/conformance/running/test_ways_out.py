"""Ways out: what may be declared where a failure is a choice or a known deviation."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from purgatory_conformance.reporting.results import Hint, results_of
from purgatory_conformance.running.campaign import SUITES, Campaign, run_campaign
from purgatory_conformance.running.case_run import run_case
from purgatory_conformance.running.replay_file import write_replay
from purgatory_conformance.running.ways_out import FINDINGS, ways_out
from purgatory_conformance.running.withdrawn_features import without
from purgatory_conformance.specimens.mutants import mutant
from purgatory_conformance.specimens.profile_subjects import profile_subjects
from purgatory_conformance.subjects.declaration import read_declaration
from purgatory_conformance.subjects.in_process import InProcessSubject, subject_of
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_judge.case_judge import Deviation, Judge
from purgatory_judge.components import narrowed
from purgatory_judge.judged import JudgedComponent
from purgatory_judge.registry import judged
from purgatory_spec import profiles
from purgatory_spec.operations import Add, Advance, Operation, Release, Throw, ThrowSort
from tests.strangers.adapters import MemoryPoolInstance
from tests.strangers.memory_pools.unchecked import LosesAByte, UncheckedPool
from tests.strangers.timers import binary_heap

QUICK = replace(SUITES["quick"], shrink_runs=200)
DOCS = Path(__file__).parents[3] / "docs"


def hints_of(campaign: Campaign, subject: InProcessSubject) -> list[Hint]:
    results = results_of(
        campaign,
        subject="subject",
        implementation=subject.implementation,
        profile=subject.profiles[campaign.component],
        suite="quick",
        suite_version="0",
        schema="",
        replays={index: f"replays/{index}.jsonl" for index in range(len(campaign.causes))},
    )
    return [hint for cause in results.causes for hint in cause.hints]


def unchecked(
    features: Iterable[profiles.MemoryPoolFeature], design: type[UncheckedPool] = UncheckedPool
) -> InProcessSubject:
    profile = msgspec.convert(
        {
            "features": ["non_strict", *(feature.value for feature in features)],
            "observables": ["available_bytes"],
        },
        profiles.MemoryPoolProfile,
    )

    def make(configuration: profiles.Configuration) -> MemoryPoolInstance:
        asked = narrowed(configuration, profiles.MemoryPoolConfiguration)
        return MemoryPoolInstance(design(asked.size_bytes, asked.max_single_bytes))

    return subject_of(make, profile)


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ([profiles.MemoryPoolFeature.RELEASE_AGAIN], "withdraw release_again"),
        ([profiles.MemoryPoolFeature.RELEASE_FOREIGN], "withdraw release_foreign"),
        (
            [profiles.MemoryPoolFeature.RELEASE_AGAIN, profiles.MemoryPoolFeature.RELEASE_FOREIGN],
            "withdraw release_again and release_foreign",
        ),
    ],
)
def test_an_unchecked_pool_is_told_what_to_withdraw(
    features: list[profiles.MemoryPoolFeature], words: str
) -> None:
    """It is told to withdraw exactly these, or which deviation to declare."""
    subject = unchecked(features)
    campaign = run_campaign(subject, profiles.Component.MEMORY_POOL, seed=1, budget=QUICK)
    (cause,) = campaign.causes
    deviation, withdrawal = cause.ways_out
    assert withdrawal.words.endswith(f"; if you do not offer that, {words}")
    assert deviation.variant == "credits_anything"
    assert deviation.words.startswith(f"all {cause.cases} failing cases pass as the known")


def test_a_leak_is_no_choice() -> None:
    """Given an unchecked pool that loses a byte with every release: there is nothing to declare."""
    subject = unchecked([], LosesAByte)
    campaign = run_campaign(subject, profiles.Component.MEMORY_POOL, seed=1, budget=QUICK)
    assert {cause.ways_out for cause in campaign.causes} == {()}


def test_a_declaration_is_judged_until_most_cases_cannot_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    subject = unchecked([], LosesAByte)
    campaign = run_campaign(subject, profiles.Component.MEMORY_POOL, seed=1, budget=QUICK)
    (cause,) = campaign.causes
    failing = [replace(cause.shrunk, name=f"copy {number}") for number in range(20)]
    judge, judged = JudgedComponent.judge, Counter[tuple[profiles.Profile, tuple[Deviation, ...]]]()

    def counted(
        self: JudgedComponent[Any, Any],
        configuration: profiles.Configuration,
        profile: profiles.Profile,
        deviations: tuple[Deviation, ...],
        *,
        forgetful: bool = False,
        state: object = None,
    ) -> Judge:
        judged[profile, deviations] += 1
        return judge(self, configuration, profile, deviations, forgetful=forgetful, state=state)

    monkeypatch.setattr(JudgedComponent, "judge", counted)
    assert ways_out(subject, cause.rule, failing, ()) == ()
    del judged[subject.profiles[profiles.Component.MEMORY_POOL], ()]  # what runs without a feature
    assert len(judged) > 3
    # Cases under a variant are judged to their ends, and again up to their failing steps.
    assert {(bool(declared), times) for (_, declared), times in judged.items()} == {
        (False, 5),
        (True, 5 + 9),
    }


def test_the_deviation_to_paste_is_one_that_a_declaration_takes(tmp_path: Path) -> None:
    """It is read, and the replay file that it names is found."""
    subject = unchecked([profiles.MemoryPoolFeature.RELEASE_FOREIGN])
    campaign = run_campaign(subject, profiles.Component.MEMORY_POOL, seed=1, budget=QUICK)
    (hint,) = [each for each in hints_of(campaign, subject) if each.paste]
    assert hint.finding == "docs/findings.md#a-pool-that-grows"
    (cause,) = campaign.causes
    profile = subject.profiles[profiles.Component.MEMORY_POOL]
    path = write_replay(
        tmp_path / "replays", cause.shrunk, cause.rule, OpenSubject("pool", subject), profile
    )
    path.rename(tmp_path / "replays" / "0.jsonl")
    declaration = tmp_path / "purgatory.toml"
    declaration.write_text(f'[subject]\nname = "pool"\npython = "pool:make"\n\n{hint.paste}\n')
    read = read_declaration(declaration)
    (deviation,) = read.deviations
    assert (deviation.rule, deviation.variant) == (cause.rule, "credits_anything")
    declared = run_campaign(
        subject,
        profiles.Component.MEMORY_POOL,
        seed=1,
        budget=QUICK,
        deviations=read.deviations,
        replays=read.replays,
    )
    assert declared.verdict_words == "conformant with 1 declared deviation"


@pytest.mark.recorded
@pytest.mark.parametrize(
    ("name", "component"),
    [
        ("throw-escapes", profiles.Component.TIMER),
        # Most of its scripts that throw do no harm: those in other callbacks.
        ("expiry-throw-escapes", profiles.Component.PURGATORY),
    ],
)
def test_whose_exceptions_propagate_is_told_to_withdraw_them(
    name: str, component: profiles.Component
) -> None:
    campaign = run_campaign(mutant(name).make(), component, seed=1, budget=QUICK)
    (cause,) = campaign.causes
    (way,) = cause.ways_out
    assert way.words.endswith("; if you do not offer that, withdraw script_throw")


def test_a_structure_that_is_wrongly_declared_is_one_cause_and_one_line_to_change() -> None:
    """There is one cause, with the profile's line under which its cases pass, and how many."""
    (heap,) = [each for each in profile_subjects() if each.name == "structure-any"]
    subject = heap.sibling()
    campaign = run_campaign(subject, profiles.Component.TIMER, seed=1, budget=QUICK)
    (cause,) = campaign.causes
    assert len(campaign.blamed) > 1
    (way,) = cause.ways_out
    assert way.line == '"structure": "any"'
    assert way.words == (
        f"all {cause.cases} failing cases pass under structure any; TIMER-OWN-CLOCK, TIMER-SPAN, "
        "TIMER-CASCADE and 2 more rules can then no longer be broken: declare it only "
        "if your documentation promises it, and note the line that does"
    )


def test_what_no_case_can_see_kept_asks_for_a_promise_and_stands_last() -> None:
    """A timer that takes any delay, and declares a largest one, may saturate or wrap."""
    stranger = replace(
        binary_heap.STRANGER,
        profile={
            **{k: v for k, v in binary_heap.STRANGER.profile.items() if k != "larger_delay"},
            "largest_delay_ms": 1000,
        },
    )
    subject = stranger.subject()
    run = run_case(subject, "large", profiles.TimerConfiguration(), (Add("a", 1001),))
    *_, last = ways_out(subject, "TIMER-LARGEST-DELAY", [run], ())
    assert (last.line, last.weakens) == (
        '"larger_delay": "saturate"',
        ("TIMER-LARGEST-DELAY",),
    )
    assert "TIMER-LARGEST-DELAY can then no longer be broken" in last.words
    assert last.words.endswith("if your documentation promises it, and note the line that does")


@pytest.mark.recorded
@pytest.mark.parametrize(
    ("name", "line"),
    [("rounding-exact", '"rounding": "exact"'), ("executor-threads", '"executor": "threads"')],
)
def test_a_choice_that_was_left_out_is_told(name: str, line: str) -> None:
    """The first cause has the profile's line under which its cases pass, and no other."""
    (silent,) = [
        each
        for each in profile_subjects()
        if each.component is profiles.Component.TIMER and each.name == name
    ]
    campaign = run_campaign(silent.sibling(), profiles.Component.TIMER, seed=1, budget=QUICK)
    assert [way.line for way in campaign.causes[0].ways_out] == [line]


def test_what_a_feature_lets_the_suite_ask_is_left_out() -> None:
    """Leave out the parts that need the feature, and nothing else."""
    throwing = (Add("a", 5, (Throw(),)), Advance(5))
    assert without("script_throw", throwing) == (Add("a", 5), Advance(5))
    assert without("script_throw_severe", throwing) == throwing
    severe = (Add("a", 5, (Throw(ThrowSort.SEVERE), Throw())), Advance(5))
    assert without("script_throw_severe", severe) == throwing
    assert without("script_throw", severe) == (Add("a", 5), Advance(5))
    assert without("cancel", throwing) == throwing
    armed_again: tuple[Operation, ...] = (Add("a", 5), Add("a", 6), Add("b", 5))
    assert without("readd", armed_again) == (Add("a", 5), Add("b", 5))
    released: tuple[Operation, ...] = (Release("a"), Release("b"), Release("a"))
    assert without("release_again", released) == released[:2]


def test_every_finding_that_is_linked_is_there() -> None:
    headings = re.findall(r"^#+ (.*)$", (DOCS / "findings.md").read_text("utf-8"), re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", words).lower().replace(" ", "-") for words in headings}
    assert set(FINDINGS.values()) <= anchors
    assert set(FINDINGS) <= {
        v for component in profiles.Component for v in judged(component).variants
    }
