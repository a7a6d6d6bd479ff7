"""The bundled instances: with an executor that runs what expires at once, and what is refused."""

# That each step is translated rightly is judged by the suite itself, on ``bundled``.

from asyncio import CancelledError
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from purgatory_conformance.opening import open_subject
from purgatory_conformance.running.campaign import Budget, Campaign, Verdict, run_campaign
from purgatory_conformance.running.case_run import CaseVerdict, run_case
from purgatory_conformance.subjects import bundled
from purgatory_conformance.subjects.bundled.memory_pool import MemoryPoolInstance
from purgatory_conformance.subjects.bundled.purgatory import PurgatoryInstance
from purgatory_conformance.subjects.bundled.timer import ScriptFailure, TimerInstance
from purgatory_conformance.subjects.in_process import InProcessSubject, Instance
from purgatory_impl import LARGEST_DELAY_MS, Task, executors
from purgatory_impl import Executor as Executor_
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.reasons import Reason

BUDGET = Budget(least_cases=80, shrink_runs=100)


def judged(subject: InProcessSubject, component: profiles.Component) -> Campaign:
    campaign = run_campaign(subject, component, seed=1, budget=BUDGET)
    subject.close()
    return campaign


def run_but_for_other_classes(task: Task, executor: Executor_) -> None:
    """Take an ``Exception`` alone for a failure of the task, as an executor must not do."""
    with suppress(Exception):
        task.run()


@pytest.mark.recorded
@pytest.mark.slow
@pytest.mark.parametrize(
    ("component", "blamed"),
    [
        (profiles.Component.TIMER, "TIMER-THROWING-TASK"),
        (profiles.Component.PURGATORY, "PURGATORY-EXPIRY-THROWS"),
    ],
)
def test_an_executor_that_lets_other_classes_go_is_found(
    component: profiles.Component, blamed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not conformant, and the rule is blamed that says so."""
    monkeypatch.setattr(executors, "_run", run_but_for_other_classes)
    campaign = judged(bundled.bundled_subject(), component)
    assert campaign.verdict is Verdict.NOT_CONFORMANT
    assert blamed in {cause.rule for cause in campaign.causes}


CLASSES: list[type[BaseException]] = [
    ValueError,
    ScriptFailure,
    CancelledError,
    GeneratorExit,
    StopIteration,
    StopAsyncIteration,
    RecursionError,
    MemoryError,
]


@pytest.mark.parametrize("thrown", CLASSES)
@pytest.mark.parametrize("stepped", [True, False])
def test_the_model_expects_the_same_whatever_is_thrown(
    thrown: type[BaseException], stepped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step is what the model expects, for every class of exception."""
    for module in (bundled.timer, bundled.purgatory):
        monkeypatch.setattr(module, "failure_of", lambda _: thrown())
    subject = bundled.bundled_subject() if stepped else bundled.bundled_inline_subject()
    rest: list[op.Operation] = [op.RunOne()] * 3 if stepped else []
    throws, late = (op.Throw(),), op.Script(on_expiration=(op.Throw(),))
    cases: list[tuple[profiles.Configuration, list[op.Operation]]] = [
        (
            profiles.TimerConfiguration(),
            [op.Add("a", 5, throws), op.Add("b", 5), op.Add("c", 6), op.Advance(6), *rest],
        ),
        (
            profiles.PurgatoryConfiguration(),
            [
                op.Watch("a", ("k",), 5, op.Script(on_complete=throws)),
                op.Watch("b", ("k",), 5, late),
                op.Watch("c", ("k",), 6),
                op.Advance(6),
                *rest,
                op.Check("k"),
            ],
        ),
    ]
    for configuration, operations in cases:
        run = run_case(subject, "thrown", configuration, operations)
        assert run.verdict is CaseVerdict.PASS, run.divergence
    subject.close()


@pytest.mark.slow
@pytest.mark.parametrize("component", [profiles.Component.TIMER, profiles.Component.PURGATORY])
def test_it_is_conformant(component: profiles.Component) -> None:
    campaign = judged(bundled.bundled_inline_subject(), component)
    assert (campaign.verdict, campaign.causes) == (Verdict.CONFORMANT, [])


@pytest.mark.recorded
@pytest.mark.slow
@pytest.mark.parametrize("component", [profiles.Component.TIMER, profiles.Component.PURGATORY])
def test_it_is_not_what_it_does_not_declare(component: profiles.Component) -> None:
    inline, stepped = bundled.bundled_inline_subject(), bundled.bundled_subject()
    subject = InProcessSubject(inline.implementation, inline.profiles, stepped._make)
    assert judged(subject, component).verdict is Verdict.NOT_CONFORMANT


def test_a_channel_is_throttled_whether_a_response_is_due_or_not() -> None:
    """Neither receives its next request."""
    subject = bundled.bundled_subject()
    events = {}
    for is_due in (True, False):
        slow: list[op.Operation] = [op.Throttle("c1"), op.Respond("c1")]
        operations = [
            op.Connect("c1"),
            op.Announce("c1", 2, 6),
            op.Poll(),
            *(slow if is_due else reversed(slow)),
            op.Release("c1#1"),
            op.Announce("c1", 2, 6),
            op.Poll(),
        ]
        run = run_case(subject, "throttled", profiles.ChannelMutingConfiguration(5, 2), operations)
        assert run.verdict is CaseVerdict.PASS, run.divergence
        outcome = run.steps[-1].outcome
        assert outcome is not None
        events[is_due] = [each.task for each in outcome.events]
    subject.close()
    assert events == {True: [], False: []}


def test_it_goes_by_its_name(tmp_path: Path) -> None:
    opened = open_subject("bundled-inline", work_folder=tmp_path)
    assert opened.name == "bundled-inline"
    executors = {each.executor for each in opened.subject.profiles.values()}  # type: ignore[union-attr]
    assert executors == {profiles.Executor.INLINE}
    assert (opened.deviations, opened.replays) == ((), ())
    opened.subject.close()


def test_an_add_that_is_refused_leaves_the_script_before() -> None:
    instance = TimerInstance(profiles.TimerConfiguration(), inline=True)
    instance.do(op.Add("other", 9))
    instance.do(op.Add("a", 5, (op.CancelInside("other"),)))
    refused = instance.do(op.Add("a", LARGEST_DELAY_MS + 1, ()))
    assert refused.rejected is Reason.TOO_LARGE
    assert instance.do(op.Advance(5)).observed["size"] == 0
    instance.close()


INSTANCES: list[tuple[Callable[..., Instance], profiles.Configuration]] = [
    (TimerInstance, profiles.TimerConfiguration()),
    (PurgatoryInstance, profiles.PurgatoryConfiguration()),
    (partial(TimerInstance, inline=True), profiles.TimerConfiguration()),
    (partial(PurgatoryInstance, inline=True), profiles.PurgatoryConfiguration()),
    (MemoryPoolInstance, profiles.MemoryPoolConfiguration()),
]


@pytest.mark.parametrize(("make", "configuration"), INSTANCES)
def test_what_is_none_of_an_instances_is_refused(
    make: Callable[..., Instance], configuration: profiles.Configuration
) -> None:
    """That is an error, and so is a task to run where the executor is inline, or there is none."""
    instance = make(configuration)
    stepped = make in (TimerInstance, PurgatoryInstance)
    if stepped:
        assert instance.do(op.RunOne()).rejected is None
    for operation in (op.Wait(1),) if stepped else (op.Wait(1), op.RunOne()):
        with pytest.raises(ValueError, match="no such operation"):
            instance.do(operation)
    instance.close()


def test_a_configuration_of_another_component_is_refused() -> None:
    with pytest.raises(TypeError):
        PurgatoryInstance(profiles.MemoryPoolConfiguration())
    with pytest.raises(TypeError):
        MemoryPoolInstance(profiles.TimerConfiguration())
