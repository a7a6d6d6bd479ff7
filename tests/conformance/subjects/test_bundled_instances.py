"""The bundled instances: with an executor that runs what expires at once, and what is refused."""

# That each step is translated rightly is judged by the suite itself, on ``bundled``.

from asyncio import CancelledError
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import repeat
from pathlib import Path

import pytest

from purgatory_conformance.opening import open_subject
from purgatory_conformance.running.campaign import Budget, Campaign, Verdict, run_campaign
from purgatory_conformance.running.case_run import CaseVerdict, run_case
from purgatory_conformance.subjects.bundled import (
    bundled_inline_subject,
    bundled_subject,
    purgatory,
    timer,
)
from purgatory_conformance.subjects.bundled.memory_pool import MemoryPoolInstance
from purgatory_conformance.subjects.bundled.purgatory import PurgatoryInstance
from purgatory_conformance.subjects.bundled.timer import ScriptFailure, TimerInstance
from purgatory_conformance.subjects.in_process import InProcessSubject, Instance
from purgatory_impl import LARGEST_DELAY_MS, Task, executors
from purgatory_impl import Executor as Executor_
from purgatory_spec.operations import (
    Add,
    Advance,
    Announce,
    CancelInside,
    Check,
    Connect,
    Operation,
    Poll,
    Release,
    Respond,
    RunOne,
    Script,
    Throttle,
    Throw,
    Wait,
    Watch,
)
from purgatory_spec.profiles import (
    ChannelMutingConfiguration,
    Component,
    Configuration,
    Executor,
    MemoryPoolConfiguration,
    PurgatoryConfiguration,
    TimerConfiguration,
)
from purgatory_spec.reasons import Reason

BUDGET = Budget(least_cases=80, seconds=600, shrink_runs=100)


def judged(subject: InProcessSubject, component: Component) -> Campaign:
    campaign = run_campaign(subject, component, seed=1, budget=BUDGET)
    subject.close()
    return campaign


def run_but_for_other_classes(task: Task, executor: Executor_) -> None:
    """What an executor must not do: take an ``Exception`` alone for a failure of the task."""
    with suppress(Exception):
        task.run()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("component", "blamed"),
    [
        (Component.TIMER, "TIMER-THROWING-TASK"),
        (Component.PURGATORY, "PURGATORY-EXPIRY-THROWS"),
    ],
)
def test_an_executor_that_lets_other_classes_go_is_found(
    component: Component, blamed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not conformant, and the rule is blamed that says so."""
    monkeypatch.setattr(executors, "_run", run_but_for_other_classes)
    campaign = judged(bundled_subject(), component)
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
    for module in (timer, purgatory):
        monkeypatch.setattr(module, "failures_in_turn", lambda: repeat(thrown()))
    subject = bundled_subject() if stepped else bundled_inline_subject()
    rest: list[Operation] = [RunOne()] * 3 if stepped else []
    throws, late = (Throw(),), Script(on_expiration=(Throw(),))
    cases: list[tuple[Configuration, list[Operation]]] = [
        (
            TimerConfiguration(),
            [Add("a", 5, throws), Add("b", 5), Add("c", 6), Advance(6), *rest],
        ),
        (
            PurgatoryConfiguration(),
            [
                Watch("a", ("k",), 5, Script(on_complete=throws)),
                Watch("b", ("k",), 5, late),
                Watch("c", ("k",), 6),
                Advance(6),
                *rest,
                Check("k"),
            ],
        ),
    ]
    for configuration, operations in cases:
        run = run_case(subject, "thrown", configuration, operations)
        assert run.verdict is CaseVerdict.PASS, run.divergence
    subject.close()


@pytest.mark.slow
@pytest.mark.parametrize("component", [Component.TIMER, Component.PURGATORY])
def test_it_is_conformant(component: Component) -> None:
    campaign = judged(bundled_inline_subject(), component)
    assert (campaign.verdict, campaign.causes) == (Verdict.CONFORMANT, [])


@pytest.mark.slow
@pytest.mark.parametrize("component", [Component.TIMER, Component.PURGATORY])
def test_it_is_not_what_it_does_not_declare(component: Component) -> None:
    """When they are judged, they are not conformant."""
    inline, stepped = bundled_inline_subject(), bundled_subject()
    subject = InProcessSubject(inline.implementation, inline.profiles, stepped._make)
    assert judged(subject, component).verdict is Verdict.NOT_CONFORMANT


def test_a_channel_is_not_throttled_where_no_response_is_due() -> None:
    """That is received; a channel that is throttled before its response has to wait."""
    subject = bundled_subject()
    events = {}
    for is_due in (True, False):
        slow: list[Operation] = [Throttle("c1"), Respond("c1")]
        operations = [
            Connect("c1"),
            Announce("c1", 2, 6),
            Poll(),
            *(slow if is_due else reversed(slow)),
            Release("c1#1"),
            Announce("c1", 2, 6),
            Poll(),
        ]
        run = run_case(subject, "throttled", ChannelMutingConfiguration(5, 2), operations)
        assert run.verdict is CaseVerdict.PASS, run.divergence
        outcome = run.steps[-1].outcome
        assert outcome is not None
        events[is_due] = [each.task for each in outcome.events]
    subject.close()
    assert events == {True: [], False: ["c1#2"]}


def test_it_goes_by_its_name(tmp_path: Path) -> None:
    opened = open_subject("bundled-inline", work_folder=tmp_path)
    assert opened.name == "bundled-inline"
    executors = {each.executor for each in opened.subject.profiles.values()}  # type: ignore[union-attr]
    assert executors == {Executor.INLINE}
    assert (opened.deviations, opened.replays) == ((), ())
    opened.subject.close()


def test_an_add_that_is_refused_leaves_the_script_before() -> None:
    instance = TimerInstance(TimerConfiguration(), inline=True)
    instance.do(Add("other", 9))
    instance.do(Add("a", 5, (CancelInside("other"),)))
    refused = instance.do(Add("a", LARGEST_DELAY_MS + 1, ()))
    assert refused.rejected is Reason.TOO_LARGE
    assert instance.do(Advance(5)).observed["size"] == 0
    instance.close()


INSTANCES: list[tuple[Callable[..., Instance], Configuration]] = [
    (TimerInstance, TimerConfiguration()),
    (PurgatoryInstance, PurgatoryConfiguration()),
    (partial(TimerInstance, inline=True), TimerConfiguration()),
    (partial(PurgatoryInstance, inline=True), PurgatoryConfiguration()),
    (MemoryPoolInstance, MemoryPoolConfiguration()),
]


@pytest.mark.parametrize(("make", "configuration"), INSTANCES)
def test_what_is_none_of_an_instances_is_refused(
    make: Callable[..., Instance], configuration: Configuration
) -> None:
    """That is an error, and so is a task to run where the executor is inline, or there is none."""
    instance = make(configuration)
    stepped = make in (TimerInstance, PurgatoryInstance)
    if stepped:
        assert instance.do(RunOne()).rejected is None
    for operation in (Wait(1),) if stepped else (Wait(1), RunOne()):
        with pytest.raises(ValueError, match="no such operation"):
            instance.do(operation)
    instance.close()


def test_a_configuration_of_another_component_is_refused() -> None:
    with pytest.raises(TypeError):
        PurgatoryInstance(MemoryPoolConfiguration())
    with pytest.raises(TypeError):
        MemoryPoolInstance(TimerConfiguration())
