"""The page's pictures are the model's: the same frames, made by two programs."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from purgatory_conformance.generation.fields import words_of
from purgatory_conformance.generation.source import SeededSource
from purgatory_conformance.knowledge import vectors
from purgatory_conformance.reducing.size import is_plain
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.viewing.runs import NoSuchStep, run_of_case
from purgatory_judge.components import narrowed
from purgatory_spec import profiles
from purgatory_spec.cases import Case, Step, TimerCaseHeader
from purgatory_spec.operations import Add, Advance, Cancel, Elapse, Operation, RunOne
from purgatory_spec.outcomes import Outcome

from .node import in_node, needs_node

pytestmark = needs_node

PROFILE = profiles.TimerProfile(
    executor=profiles.Executor.STEPPED,
    structure=profiles.Structure.DELAY_QUEUE_WHEEL,
    features=frozenset(
        {
            profiles.Feature.CANCEL,
            profiles.Feature.READD,
            profiles.Feature.ELAPSE,
            profiles.Feature.NEGATIVE_CLOCK,
        }
    ),
    observables=frozenset(
        {
            profiles.Observable.ADVANCE_RESULT,
            profiles.Observable.LEVELS,
            profiles.Observable.NEXT_EXPIRY,
            profiles.Observable.QUEUED,
            profiles.Observable.QUEUED_BUCKETS,
            profiles.Observable.SIZE,
            profiles.Observable.WHEEL_CLOCK,
        }
    ),
)
Run = tuple[profiles.TimerConfiguration, tuple[Operation, ...]]
RUNS = "given.map(([made_with, steps]) => purgatory_frames.run('a run', made_with, steps))"


def runs() -> Iterator[Run]:
    """The golden vectors that a wheel without scripts is asked, and two hundred generated runs.

    A page gives its tasks plain names.
    """
    support = support_of(profiles.Component.TIMER)
    for vector in vectors(profiles.Component.TIMER):
        operations = support.suited(vector, PROFILE)
        if operations is not None:
            yield narrowed(vector.header.configuration, profiles.TimerConfiguration), operations
    for number in range(310):
        source = SeededSource(f"frames-{number}")
        configuration = support.draw_configuration(PROFILE, source, frozenset())
        operations = support.draw_operations(
            configuration, PROFILE, source, most=20, wanted=frozenset()
        )
        if all(is_plain(word) for _, word in words_of(operations)):
            yield narrowed(configuration, profiles.TimerConfiguration), operations


def expected(run: Run, outcomes: list[Any]) -> Any:
    """The run of the model through the recorded outcomes, as the page would have it."""
    configuration, operations = run
    header = TimerCaseHeader(
        case="any", title="a run", configuration=configuration, profile=PROFILE
    )
    told = (msgspec.convert(outcome, Outcome) for outcome in outcomes)
    steps = tuple(Step(*pair) for pair in zip(operations, told, strict=True))
    return msgspec.json.decode(msgspec.json.encode(run_of_case(Case(header, steps))))


def test_every_frame_is_the_models() -> None:
    """Its outcomes are right, and title, words and rows of each frame are those of the model."""
    asked = list(runs())
    made = in_node(RUNS, msgspec.to_builtins(asked))
    assert len(made) == len(asked) > 220
    frames = 0
    for run, seen in zip(asked, made, strict=True):
        outcomes = seen.pop("outcomes")
        assert seen == expected(run, outcomes)
        frames += len(seen["frames"])
    assert frames > 2_500


def test_the_runs_have_what_a_page_can_ask_for() -> None:
    """Each operation of the page is among them, and so are large wheels and many levels."""
    asked = list(runs())
    assert {type(each) for _, steps in asked for each in steps} >= {
        Add,
        Cancel,
        Elapse,
        Advance,
        RunOne,
    }
    assert any(configuration.wheel_size > 12 for configuration, _ in asked)


@pytest.mark.parametrize("defect", ["lost-on-cascade", "one-bucket-per-advance"])
def test_a_wrong_timer_is_seen_in_the_frames(defect: str) -> None:
    """The model does not allow an outcome."""
    run = (profiles.TimerConfiguration(wheel_size=4), (Add("a", 27), Add("b", 3), Advance(30)))
    wrong = f"purgatory_frames.run('a run', given[0], given[1], '{defect}')"
    seen = in_node(wrong, msgspec.to_builtins(run))
    with pytest.raises(NoSuchStep, match="step 3"):
        expected(run, seen["outcomes"])
