"""Runs of a program on somebody else's class."""

import math
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Final
from unittest.mock import patch

from purgatory_conformance.describing.steps import describe_operation
from purgatory_conformance.subjects.guarded import GuardedSubject
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_conformance.subjects.subject import (
    Subject,
    SubjectFailure,
    UnsupportedConfigurationError,
)
from purgatory_lab.scheduling.errors import (
    Abandoned,
    CheckFailed,
    Deadlock,
    SchedulingError,
    Stalled,
    TooManySteps,
)
from purgatory_lab.scheduling.history import CALLS, RETURNS
from purgatory_lab.scheduling.run import AtRest, Record, Strategy
from purgatory_lab.scheduling.scheduler import Scheduler
from purgatory_lab.scheduling.strangers.judge import Judge, RuleBroken
from purgatory_lab.scheduling.strangers.opcodes import Tracing
from purgatory_lab.scheduling.strangers.primitives import REAL_LOCKS, Primitives, substitute
from purgatory_lab.scheduling.strangers.programs import LOOK, Calls, Shared, closing_calls
from purgatory_model.overlapping.interleaving import Called, Happened, Returned
from purgatory_spec import outcomes
from purgatory_spec.operations import Allocate, Operation, Release
from purgatory_spec.outcomes import Event, EventKind, Outcome, Value
from purgatory_spec.profiles import Clock, Component, Profile, TimerProfile, component_of
from purgatory_spec.reasons import Reason
from purgatory_traces.linearizability.calls import Entry

LONGEST_WAIT_S: Final = 10.0
"""The longest time that a thread may run without a yield point, s."""

_NOT_SCHEDULED: Final = (
    "what waits outside threading, queue and time is not scheduled: files, sockets, processes, "
    "locks that were made before the class was imported"
)
_CLOSING: Final = "closing"
_OWN_THREADS: Final = "threads of the class"
_OURS: Final = "purgatory_"
_MUSEUM: Final = "purgatory_lab.museum.threads."
"""The modules of ours that are code under test, as other people's are."""
_NOT_THEIRS: Final = tuple(
    sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")
)


class NotScheduled(SchedulingError):
    """A class cannot be scheduled; the message says why."""


class Stranger:
    """A class of other people under the scheduler, imported anew for each run.

    Attributes:
        scheduler: Of all its runs.
        tracing: Of its files.
        profiles: The declared profile of each component.
        happened: Takes an event of the present run, where and when it is made.
    """

    def __init__(
        self,
        word: str,
        open_anew: Callable[[], OpenSubject],
        longest_wait_s: float = LONGEST_WAIT_S,
    ) -> None:
        """Prepare the class; nothing is imported yet.

        Args:
            word: What the user has typed; ``module:Class`` names a module.
            open_anew: Imports it and makes a subject.
            longest_wait_s: How long a thread may reach no yield point, s.
        """
        self.scheduler = Scheduler(longest_wait_s, locks_are_owned=False)
        self.primitives = Primitives(self.scheduler)
        self.tracing = Tracing(self.scheduler)
        self.primitives.enter = self.tracing.enter
        self.happened: Callable[[Event], None] = _nowhere
        self._open_anew = open_anew
        self._modules: list[str] = [word.partition(":")[0]] if ":" in word else []
        self.profiles: dict[Component, Profile] = {}

    @contextmanager
    def active(self) -> Iterator[None]:
        """Have the stand-ins in place; afterwards the modules are as they were."""
        before = {name: sys.modules[name] for name in self._modules if name in sys.modules}
        with self.primitives.active(), ExitStack() as stack:
            for name, value in _telling(self._tell).items():
                stack.enter_context(patch.object(outcomes, name, value))
            try:
                self._look()
                yield
            finally:
                for name in self._modules:
                    sys.modules.pop(name, None)
                sys.modules.update(before)

    def open(self) -> Subject:
        """Import the class anew, and return a subject."""
        for name in self._modules:
            sys.modules.pop(name, None)
        self.primitives.preparing = True
        try:
            subject = self._open_anew().subject
            if isinstance(subject, GuardedSubject):
                subject.time_limit_seconds = math.inf  # each run has a limit of its own
            return subject
        finally:
            self.primitives.preparing = False

    def _tell(self, event: Event) -> Event:
        if self.scheduler.running is not None:
            self.happened(event)
        return event

    def _look(self) -> None:
        """Find the modules of the class, and its profile.

        Raises:
            NotScheduled: it has a lock that is not under control, or shares nothing.
        """
        known = set(sys.modules) - set(self._modules)
        self.primitives.begin()
        subject = self.open()
        named = self._modules
        imported = [name for name in sys.modules if name not in known and name not in named]
        self._modules = [*named, *(name for name in imported if _is_theirs(sys.modules[name]))]
        modules = [sys.modules[name] for name in self._modules]
        self.tracing.files = frozenset(str(module.__file__) for module in modules)
        for module in modules:
            for name, value in vars(module).items():
                if isinstance(value, REAL_LOCKS) and type(value) in REAL_LOCKS:
                    raise NotScheduled(
                        f"{module.__name__}.{name} is a lock that was made before the class was "
                        "imported under control: import the module that makes it from the module "
                        "of the class, and from nowhere before, or make the lock in the object"
                    )
        self.profiles = dict(subject.profiles)
        subject.close()


def _nowhere(_: Event) -> None:
    """Take an event outside every run."""


def _telling(tell: Callable[[Event], Event]) -> dict[str, object]:
    """Return stand-ins for what makes events, by their names in the module of outcomes.

    An adapter may put the events of all calls into one list, as one that is called by one thread
    does. So an event is noted in the thread and at the instant in which it is made.
    """

    def of(kind: EventKind) -> Callable[[str], Event]:
        return lambda task: tell(Event(kind, task))

    made = {kind.value: of(kind) for kind in EventKind if hasattr(outcomes, kind.value)}
    return {**made, "Event": substitute("Event", Event, lambda *a, **k: tell(Event(*a, **k)))}


def _is_theirs(module: ModuleType) -> bool:
    """Decide whether a module is neither ours nor of the standard library or installed."""
    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return False
    if module.__name__.startswith(_OURS):
        return module.__name__.startswith(_MUSEUM)
    return not any(Path(file).is_relative_to(folder) for folder in _NOT_THEIRS)


class StrangerRuns:
    """Makes the runs of one program."""

    def __init__(self, stranger: Stranger, program: Shared) -> None:
        self.program = program
        self._stranger = stranger
        self._profile = stranger.profiles[component_of(program.configuration)]
        self._judge = Judge(program.configuration, self._profile)

    def __call__(self, strategy: Strategy) -> Record:
        """Make a run, and judge it.

        Raises:
            NotScheduled: the class refuses what its profile offers.
            Stalled: a thread waits for something that is not under control, or loops.
        """
        stranger = self._stranger
        stranger.primitives.begin()
        stranger.tracing.shared.begin()
        stranger.tracing.noting = False
        run = _Run(stranger, self.program, self._profile, self._judge)
        stranger.happened = run.happened
        stranger.scheduler.quiet = True
        stranger.scheduler.start("setup", run.set_up)
        try:
            record = stranger.scheduler.execute(strategy)
        except Stalled as stalled:
            raise Stalled(f"{stalled}; {run.inside()}; {_NOT_SCHEDULED}") from None
        if run.refusal:
            raise NotScheduled(run.refusal)
        if isinstance(record.failure, Deadlock | TooManySteps):
            record.failure = run.stuck(record.failure)
        elif record.failure is None:
            record.failure = self._judge(run.entries(), run.shown, run.looked)
        if isinstance(record.failure, RuleBroken):
            record.failure = record.failure.besides(stranger.primitives.deaths)
        return record


class _Run:
    """A run: the instance, and the results that its calls have returned so far."""

    def __init__(self, stranger: Stranger, program: Shared, profile: Profile, judge: Judge) -> None:
        self.refusal = ""
        self.shown: dict[str, Value] = {}
        self.looked: dict[str, Value] = {}
        self._stranger = stranger
        self._scheduler = stranger.scheduler
        self._program = program
        self._profile = profile
        self._subject = stranger.open()
        self._judge = judge
        self._wall = isinstance(profile, TimerProfile) and profile.clock is Clock.WALL
        self._entries: list[Entry] = []
        self._inside: dict[str, Operation] = {}
        self._granted: set[str] = set()
        self._released: set[str] = set()
        self._told: list[Event] = []

    def set_up(self) -> None:
        """Make the instance, call what comes first, and start the callers."""
        self._stranger.tracing.enter()
        try:
            self._subject.new(self._program.name, self._program.configuration)
        except UnsupportedConfigurationError as error:
            self.refusal = f"the subject offers no such instance: {error}"
            return
        self._play("setup", self._program.setup)
        callers = [
            self._scheduler.start(name, self._caller(name, calls))
            for name, calls in self._program.threads.items()
        ]
        self._scheduler.start(_CLOSING, self._close, AtRest(callers))
        self._stranger.tracing.noting = True
        self._scheduler.quiet = False

    def entries(self) -> list[Entry]:
        """Return the history; events with a time of their own are put where they belong."""
        if not self._wall:
            return self._entries
        return sorted(self._entries, key=lambda entry: entry.at_ms or 0)

    def stuck(self, failure: SchedulingError) -> SchedulingError:
        """Return the rule that is broken by calls that never return."""
        if not self._inside:
            return CheckFailed(f"close does not return: {failure}")
        rule = self._judge.rule_of_call(next(iter(self._inside.values())))
        if component_of(self._profile) is Component.PURGATORY:
            rule = "PURGATORY-NO-CIRCLE"
        lines = str(failure).split("; ")
        if _CLOSING not in self._inside:
            lines = [line for line in lines if not line.startswith(f"{_CLOSING} ")]
        waits = "; ".join(lines)
        sort = "deadlock" if isinstance(failure, Deadlock) else "livelock"
        return RuleBroken(rule, f"{sort}: {waits}; {self.inside()}")

    def inside(self) -> str:
        """Return the calls that are open, in words."""
        calls = self._inside.items()
        return "; ".join(f"{name} is in “{describe_operation(called)}”" for name, called in calls)

    def _caller(self, name: str, calls: Calls) -> Callable[[], None]:
        def play() -> None:
            self._stranger.tracing.enter()
            self._play(name, calls)

        return play

    def _close(self) -> None:
        """Leave nothing pending, and end the instance."""
        self._scheduler.quiet = True
        self._stranger.tracing.noting = False
        self._stranger.tracing.enter()
        self._play(_CLOSING, closing_calls(self._program, self._profile))
        self._scheduler.mark("ends the instance")
        self._subject.end()
        self._subject.close()

    def _play(self, thread: str, calls: Calls) -> None:
        for operation in calls:
            if isinstance(operation, Release):
                left_out = self._released if thread == _CLOSING else ()
                if operation.buffer not in self._granted or operation.buffer in left_out:
                    continue
                self._released.add(operation.buffer)
            self._perform(thread, operation)

    def _perform(self, thread: str, operation: Operation) -> None:
        self._note(Called(thread, operation))
        self._inside[thread] = operation
        self._scheduler.mark(CALLS, operation)
        try:
            outcome = next(iter(self._subject.do_all((operation,))))
        except SubjectFailure as failure:
            if self._scheduler.abandoned:
                raise Abandoned from None
            cause = failure.__cause__
            if isinstance(cause, SchedulingError):
                raise cause from None
            words = f"{thread} in “{describe_operation(operation)}” raised {cause!r}"
            raise RuleBroken(self._judge.rule_of_call(operation), words) from cause
        del self._inside[thread]
        self._take(thread, operation, outcome)

    def _take(self, thread: str, operation: Operation, outcome: Outcome) -> None:
        """Note what a call has returned."""
        if outcome.rejected is Reason.UNSUPPORTED and not self.refusal:
            self.refusal = f"the subject refuses “{describe_operation(operation)}” as unsupported"
        for event in outcome.events:
            if not any(event is told for told in self._told):
                self._note_event(thread, event)
        returned = Returned(thread, outcome.result, outcome.rejected)
        self._note(returned)
        self._scheduler.mark(RETURNS, returned)
        if thread == _CLOSING:
            # Others may show what was so while a call beside them was under way.
            self.shown = dict(outcome.observed)
        if operation is LOOK:
            self.looked = self.shown
        if isinstance(operation, Allocate) and outcome.result is True:
            self._granted.add(operation.buffer)

    def happened(self, event: Event) -> None:
        """Note an event that the running thread makes."""
        running = self._scheduler.running
        assert running is not None
        self._told.append(event)
        self._note_event(running.name, event)

    def _note_event(self, thread: str, event: Event) -> None:
        plain = Event(event.kind, event.task, event.reason)
        if self._wall:
            self._note(Happened(_OWN_THREADS, plain), event.at_ms)
        else:
            self._note(Happened(thread, plain))

    def _note(self, event: Called | Happened | Returned, at_ms: int | None = None) -> None:
        if at_ms is None and self._wall:
            at_ms = int(self._scheduler.now_s * 1000)
        self._entries.append(Entry(len(self._entries) + 1, event, at_ms))
