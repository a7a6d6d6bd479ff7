"""Hypothesis state machines: anybody's implementation against the model, step by step.

    TestMyTimer = timer_machine(MyTimer).TestCase

A timer's class needs no more than ``add(task, delay_ms)`` and ``advance(to_ms)``, which returns the
names of the tasks that ran, and may have ``cancel(task)`` (``subjects.plain_timer``). Any other
class, and one that declares more, carries out operations: ``do(operation)`` and ``close()``.

A machine is a ``RuleBasedStateMachine``. Each row of the component's table of situations, from
which ``purgatory check`` draws too, is one of its rules. A rule draws operations. The
implementation carries out each operation, and the judge, who follows the model, says whether the
outcome is right. Where an outcome is wrong, Hypothesis shrinks the steps, and the report names the
rule that they break, and has the steps as a case for ``purgatory replay``.

``settings``, ``seed`` and ``reproduce_failure`` decorate these machines as they do any other. A
subclass may add rules, and invariants that read ``steps``, ``observed`` and ``state``:

    class MyTimerMachine(TimerMachine, tests=MyTimer, profile=MY_PROFILE):
        @invariant()
        def is_small(self) -> None:
            assert self.number("size") < 1000
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, TypeVar, cast

import msgspec
from hypothesis import Phase, reject, settings, target
from hypothesis import strategies as st
from hypothesis.control import current_build_context
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from hypothesis.strategies import DrawFn

from purgatory_conformance.describing.steps import (
    describe_configuration,
    describe_operation,
    describe_outcome,
)
from purgatory_conformance.describing.words import instance_noun, noun, printable, replay_command
from purgatory_conformance.generation.draft import Draft
from purgatory_conformance.generation.source import HypothesisSource, Source
from purgatory_conformance.opening import open_subject
from purgatory_conformance.running.case_run import CaseRun, CaseVerdict, run_case
from purgatory_conformance.running.replay_file import replay_case, write_replay
from purgatory_conformance.running.shrinking import reduce_case
from purgatory_conformance.subjects.in_process import Instance, Make, subject_of
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_conformance.subjects.plain_timer import (
    PlainTimer,
    is_plain_timer,
    plain_choices,
    plain_subject,
)
from purgatory_conformance.subjects.profile_rules import problem_of
from purgatory_conformance.subjects.subject import (
    Subject,
    UnsupportedConfigurationError,
    profile_of,
)
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate, Support
from purgatory_conformance.work_folder import ForeignFolder, own_folder
from purgatory_judge.case_judge import Deviation, Judge
from purgatory_judge.components import PROFILES, on_real_clock
from purgatory_judge.judgement import Divergence, TooManyStates
from purgatory_judge.registry import judged
from purgatory_spec import profiles
from purgatory_spec.cases import Step, encode_case
from purgatory_spec.misspelt import suggestion
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome, Value
from purgatory_spec.requirements import component_of_rule, requirement

_WORK_FOLDER = Path("purgatory-work")
"""The case of a failure is kept in here, where ``purgatory check`` keeps its own."""

_MOST_RUNS = 500
"""The most runs of a case shrunk by Hypothesis that try to leave out single operations."""

_PHASES = frozenset(Phase) - {Phase.explain}
"""An explanation varies each number hundreds of times, in runs that then go on to their end."""

Tested = Callable[..., Instance] | Callable[..., PlainTimer] | str
"""A class whose instances carry out operations, a timer's class, or a subject's word."""

Choices = profiles.Profile | Mapping[str, object]
"""A profile, or its words as an adapter declares them."""

Drawn = TypeVar("Drawn")
Machine = TypeVar("Machine", bound="StepMachine")


class RuleBroken(AssertionError):
    """A step whose outcome the rules do not allow; ``rule`` is the id of the one that is broken."""

    def __init__(self, divergence: Divergence) -> None:
        """Say which rule is broken, what was expected, and what was seen."""
        stated = requirement(divergence.rule)
        super().__init__(
            f"{stated.id} ({stated.level.value}): {stated.title}\n"
            f"expected: {printable(divergence.expected)}\nseen: {printable(divergence.seen)}"
        )
        self.rule = stated.id


@dataclass(frozen=True)
class _Judged:
    """The subject of a machine, with the judge's profile and deviations."""

    open: Callable[[], OpenSubject]
    profile: profiles.Profile
    deviations: tuple[Deviation, ...] = ()


def _drawn(by: Callable[["StepMachine", Source], Drawn]) -> st.SearchStrategy[Drawn]:
    """Return a strategy for draws in the machine's present state."""

    @st.composite
    def build(draw: DrawFn) -> Drawn:
        return by(draw(st.runner()), HypothesisSource(draw))

    return build()


class StepMachine(RuleBasedStateMachine):
    """The implementation and the model side by side; the base of the three machines.

    ``steps`` are those of this run; ``configuration`` is what the instance was made with.
    """

    component: ClassVar[profiles.Component]
    judged: ClassVar[_Judged | None] = None

    def __init_subclass__(
        cls,
        *,
        tests: Tested | None = None,
        profile: Choices | None = None,
        deviations: Sequence[Deviation] = (),
    ) -> None:
        """Say what is tested, and by which profile.

        Args:
            tests: A class with ``__init__(configuration)``, ``do(operation)`` and ``close()``, a
                timer's class with ``add`` and ``advance``, or the word of a subject, see
                ``purgatory list subjects``.
            profile: The choices of the class, by default the weakest ones. The subject of a word
                declares its own.
            deviations: The rules that are known to be broken, each with the variant to follow.
                Those that the subject of a word declares come on top.

        Raises:
            TypeError: the class has not the methods that are needed, or the profile is none.
            ValueError: no machine can judge by this profile; there is no such word, or variant.
        """
        super().__init_subclass__()
        cls.TestCase.settings = settings(cls.TestCase.settings, phases=_PHASES)
        if tests is not None:
            cls.judged = _judged(cls.component, tests, profile, deviations)

    def __init__(self) -> None:
        """Open what is tested; the first rule makes the instance."""
        super().__init__()
        if self.judged is None:
            raise TypeError(f"{type(self).__name__} tests nothing: say tests=... in its bases")
        self.opened = self.judged.open()
        self.subject: Subject = self.opened.subject
        self.profile = self.judged.profile
        self.deviations = self.judged.deviations
        self.steps: list[Step] = []
        self._visited: set[str] = set()

    # What invariants may read

    @property
    def state(self) -> object:
        """Return the model's state after the last step."""
        return self.judge.state

    @property
    def observed(self) -> Mapping[str, Value]:
        """Return the observables after the last step; none before the first."""
        outcome = self.steps[-1].outcome if self.steps else None
        return outcome.observed if outcome else {}

    def number(self, observable: str) -> int:
        """Return an observable that is a number, after the last step; 0 before the first."""
        value = self.observed.get(observable, 0)
        assert isinstance(value, int), f"{observable} is no number: {value!r}"
        return value

    def names(self, observable: str) -> frozenset[str]:
        """Return an observable that is a list of names, after the last step; else none."""
        value = self.observed.get(observable, ())
        assert isinstance(value, tuple), f"{observable} is no list of names: {value!r}"
        return frozenset(value)

    # What Hypothesis calls

    @initialize(case=_drawn(lambda machine, source: machine.draw_beginning(source)))
    def begin(self, case: Candidate) -> None:
        """Make an instance, and a judge beside it."""
        self.configuration: profiles.Configuration = case.configuration
        self.judge: Judge = self._support.judged.judge(
            case.configuration, self.profile, self.deviations
        )
        try:
            self.subject.new("stateful", case.configuration)
        except UnsupportedConfigurationError:
            reject()
        self.carry_out(case.operations)

    def draw_beginning(self, source: Source) -> Candidate:
        """Draw a configuration, and seldom some operations at once."""
        configuration = self._support.draw_configuration(self.profile, source, frozenset())
        self.draft: Draft = self._support.draft(configuration, self.profile)
        return Candidate(configuration, self.draft.opening(source))

    @rule(operations=_drawn(lambda machine, source: machine.draft.shutdown(source)))
    def shut_down(self, operations: tuple[Operation, ...]) -> None:
        """Shut down, seldom; the other rules go on behind it."""
        self.carry_out(operations)

    def carry_out(self, operations: tuple[Operation, ...]) -> None:
        """Carry out each operation on the implementation, and hold its outcome to the model."""
        __tracebackhide__ = True
        for operation in operations:
            # Nothing makes a user's own class return an outcome.
            outcome: object = next(iter(self.subject.do_all((operation,))))
            if not isinstance(outcome, Outcome):
                raise TypeError(
                    f"do returned {outcome!r} for {describe_operation(operation)!r}, "
                    "which is no Outcome"
                )
            self.steps.append(Step(operation, outcome))
            try:
                judgement = self.judge.step(operation, outcome)
            except TooManyStates:
                reject()
            self._visited |= judgement.visited
            if judgement.divergence is not None:
                raise self._failure(judgement.divergence)

    def teardown(self) -> None:
        """Drop the instance; have Hypothesis look for runs that put many rules to the test."""
        target(float(len(self._visited)), label="rules put to the test")
        self.subject.close()

    # What is said of a failure

    @property
    def _support(self) -> Support:
        return support_of(self.component)

    def _failure(self, divergence: Divergence) -> RuleBroken:
        """Return the broken rule; in Hypothesis's last run, of the simplest case there is.

        A long case may break several rules at once, so that only a short one names the right one.
        """
        __tracebackhide__ = True
        if not current_build_context().is_final:
            return RuleBroken(divergence)
        run = self._reduced()
        if run.divergence is None:
            # The same operations had another outcome: only what was seen can be told.
            run = CaseRun("seen", *self._asked, steps=self.steps, divergence=divergence)
        error = RuleBroken(run.divergence or divergence)
        error.add_note(self._told(run, error.rule))
        return error

    @property
    def _asked(self) -> tuple[profiles.Configuration, tuple[Operation, ...]]:
        return self.configuration, tuple(step.operation for step in self.steps)

    def _reduced(self) -> CaseRun:
        """Return the steps of this run without those that the failure does not need."""

        def again(case: Candidate) -> CaseRun:
            return run_case(
                self.subject, "again", case.configuration, case.operations, self.deviations
            )

        def fails(case: Candidate) -> bool:
            return again(case).verdict is CaseVerdict.FAIL

        return again(reduce_case(self.profile, Candidate(*self._asked), fails, _MOST_RUNS))

    def _told(self, run: CaseRun, rule_id: str) -> str:
        """Return the case for people, the lines of its file, and the command that runs it again."""
        made_with = describe_configuration(run.configuration)
        lines = [f"a {instance_noun(self.component)}: {made_with}"]
        for number, step in enumerate(run.steps, start=1):
            assert step.outcome is not None
            said = describe_outcome(step.operation, step.outcome)
            lines.append(f"{number:3}  {describe_operation(step.operation)}  ->  {said}")
        lines.append("the same as a file:")
        lines.append(encode_case(replay_case(run, rule_id, self.opened, self.profile)).rstrip())
        try:
            folder = own_folder(_WORK_FOLDER, self.opened) / "replays"
            path = write_replay(folder, run, rule_id, self.opened, self.profile)
            lines.append(f"again: {replay_command(path, *self.opened.again)}")
        except (OSError, ForeignFolder) as error:
            lines.append(f"the file could not be kept: {error}")
        return "\n".join(lines)


def _with_situations(machine: type[Machine]) -> type[Machine]:
    """Return the machine with a rule for each row of its component's table."""
    for situation in support_of(machine.component).situations:
        name = re.sub(r"\W+", "_", situation.replace("'", ""))
        setattr(machine, name, _rule_of(situation, name))
    return machine


def _rule_of(situation: str, name: str) -> Callable[..., None]:
    def bring_about(self: StepMachine, operations: tuple[Operation, ...]) -> None:
        __tracebackhide__ = True
        self.carry_out(operations)

    bring_about.__name__ = bring_about.__qualname__ = name
    drawn = _drawn(lambda machine, source: machine.draft.draw(situation, source))
    possible = precondition(lambda machine: machine.draft.offers(situation))
    return possible(rule(operations=drawn)(bring_about))


@_with_situations
class TimerMachine(StepMachine):
    """A timer against the model of the timer."""

    component = profiles.Component.TIMER


@_with_situations
class PurgatoryMachine(StepMachine):
    """A purgatory against the model of the purgatory."""

    component = profiles.Component.PURGATORY


@_with_situations
class MemoryPoolMachine(StepMachine):
    """A memory pool against the model of the memory pool."""

    component = profiles.Component.MEMORY_POOL


@_with_situations
class ChannelMutingMachine(StepMachine):
    """A server's channels against the model of channels that wait for memory."""

    component = profiles.Component.CHANNEL_MUTING


def timer_machine(
    tests: Callable[[profiles.TimerConfiguration], Instance] | Callable[..., PlainTimer] | str,
    profile: Choices | None = None,
    deviations: Sequence[Deviation] = (),
) -> type[TimerMachine]:
    """Return the machine that tests a timer; arguments and errors are those of a subclass."""

    class Timer(TimerMachine, tests=tests, profile=profile, deviations=deviations):
        """The machine of one timer under test."""

    return Timer


def purgatory_machine(
    tests: Callable[[profiles.PurgatoryConfiguration], Instance] | str,
    profile: Choices | None = None,
    deviations: Sequence[Deviation] = (),
) -> type[PurgatoryMachine]:
    """Return the machine that tests a purgatory; arguments and errors are those of a subclass."""

    class Purgatory(PurgatoryMachine, tests=tests, profile=profile, deviations=deviations):
        """The machine of one purgatory under test."""

    return Purgatory


def memory_pool_machine(
    tests: Callable[[profiles.MemoryPoolConfiguration], Instance] | str,
    profile: Choices | None = None,
    deviations: Sequence[Deviation] = (),
) -> type[MemoryPoolMachine]:
    """Return the machine that tests a memory pool; arguments and errors are those of a subclass."""

    class MemoryPool(MemoryPoolMachine, tests=tests, profile=profile, deviations=deviations):
        """The machine of one memory pool under test."""

    return MemoryPool


def channel_muting_machine(
    tests: Callable[[profiles.ChannelMutingConfiguration], Instance] | str,
    profile: Choices | None = None,
    deviations: Sequence[Deviation] = (),
) -> type[ChannelMutingMachine]:
    """Return the machine that tests a server; arguments and errors are those of a subclass."""

    class ChannelMuting(ChannelMutingMachine, tests=tests, profile=profile, deviations=deviations):
        """The machine of one server under test."""

    return ChannelMuting


def _judged(
    component: profiles.Component,
    tests: Tested,
    choices: Choices | None,
    deviations: Sequence[Deviation],
) -> _Judged:
    """Return the tested subject with its judge."""
    variants = judged(component).variants
    for each in deviations:
        if each.variant not in variants:
            there_are = ", ".join(sorted(variants))
            raise ValueError(f"there is no variant {each.variant!r}; there are: {there_are}")
    if not isinstance(tests, str):
        if choices is None and component is profiles.Component.TIMER and is_plain_timer(tests):
            choices = plain_choices(tests)
        profile = _judging(component, choices)
        opened = partial(_opened, tests, profile)
        opened()  # so that a wrong class is told where the machine is defined
        return _Judged(opened, profile, tuple(deviations))
    if choices is not None:
        raise ValueError(f"the subject {tests!r} declares its own profile: give none")
    asked = open_subject(tests, work_folder=_WORK_FOLDER)
    try:
        profile = _judging(component, profile_of(asked.subject, component))
    finally:
        asked.subject.close()
    known = [each for each in asked.deviations if component_of_rule(each.rule) is component]
    opened = partial(open_subject, tests, work_folder=_WORK_FOLDER)
    return _Judged(opened, profile, (*known, *deviations))


def _opened(
    make: Callable[..., Instance] | Callable[..., PlainTimer], profile: profiles.Profile
) -> OpenSubject:
    if is_plain_timer(make) and isinstance(profile, profiles.TimerProfile):
        subject = plain_subject(make, profile)
    else:
        subject = subject_of(cast("Make", make), profile)
    name = getattr(make, "__qualname__", subject.implementation.name)
    word = f"{getattr(make, '__module__', '')}:{name}"
    return OpenSubject(name, subject, reopen=word, again=("--subject", word), home=Path.cwd())


def _judging(component: profiles.Component, choices: Choices | None) -> profiles.Profile:
    """Return the profile that is meant, if a machine can judge by it."""
    kind = PROFILES[component]
    if choices is None or isinstance(choices, Mapping):
        try:
            profile = msgspec.convert(choices or {}, kind)
        except msgspec.ValidationError as error:
            meant = suggestion(error, kind)
            raise ValueError(f"no profile of a {noun(component)}: {error}{meant}") from None
    elif isinstance(choices, kind):
        profile = choices
    else:
        raise TypeError(f"a {kind.__name__} or its words are needed, not {choices!r}")
    if problem := problem_of(profile):
        raise ValueError(problem)
    if on_real_clock(profile):
        raise ValueError("a machine needs a manual clock: purgatory check judges a real one")
    return profile
