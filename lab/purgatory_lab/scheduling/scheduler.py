"""The scheduler: real threads of which one moves at a time, and who moves is chosen.

Each logical thread has a real one and a *gate*, where the real thread waits while others move.
Handing over is opening the gate of the other and waiting at one's own. A thread that cannot go on
has an *obstacle*: a lock that is held, a condition that nobody has notified, a thread that has not
ended. It is asked again at each choice whether it is gone, so nobody is ever woken in vain.

Nothing hangs. Where every thread has an obstacle, the clock of the run jumps to the earliest end of
a wait with a time limit; where there is none, that is a deadlock and the run's result. A run ends
after a number of steps, and every wait of a real thread has a bound.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, NoReturn

from purgatory_lab.scheduling.errors import (
    Abandoned,
    CheckFailed,
    Deadlock,
    SchedulingError,
    Stalled,
    ThreadFailed,
    TooManySteps,
)
from purgatory_lab.scheduling.run import (
    Choice,
    LogicalThread,
    Mark,
    Obstacle,
    Record,
    Strategy,
)
from purgatory_lab.scheduling.schedule import MOST_THREADS

LONGEST_WAIT_S: Final = 60.0
"""A bound that only a thread reaches that loops without end between two yield points."""

STEP_LIMIT: Final = 20_000
"""Yield points of one run; the scenarios reach some hundreds."""


OVERSHOOT_S: Final = 1e-6
"""The lateness of a wait with a time limit, as of a real one: a reading that is cut off to
milliseconds is then no earlier than the limit."""

PATIENCE: Final = 1_000
"""Yield points after which a thread gives way to another one that can go on, as it would have to on
a processor: what it waits for in a loop has to come."""


class Scheduler:
    """Lets the threads of one run after another move, one at a time.

    Attributes:
        running: The thread that moves now; None outside a run, where nothing is scheduled.
        abandoned: The run is over and its threads are being ended.
        inspect: Asked at each yield point what is wrong in the state that the threads have left.
        now_s: The clock of the run, s; it moves only where every thread waits.
        quiet: Whether a thread that can go on is never interrupted.
        locks_are_owned: Whether only the thread that has taken a lock may give it back.
    """

    def __init__(
        self, longest_wait_s: float = LONGEST_WAIT_S, *, locks_are_owned: bool = True
    ) -> None:
        """Make a scheduler that runs nothing yet.

        Args:
            longest_wait_s: How long a run may take before it is given up, seconds.
            locks_are_owned: Whether a lock is given back by the thread that has taken it, before
                this ends. ``threading`` asks that of re-entrant locks alone.
        """
        self._longest_wait_s = longest_wait_s
        self.locks_are_owned = locks_are_owned
        self.running: LogicalThread | None = None
        self.abandoned = False
        self._own = threading.local()
        self.inspect: Callable[[], list[str]] | None = None
        self.now_s = 0.0
        self.quiet = False
        self.record = Record()
        self._threads: list[LogicalThread] = []
        self._strategy: Strategy | None = None
        self._steps = 0
        self._in_a_row = 0
        self._over = threading.Semaphore(0)

    def begin(self) -> None:
        """Forget the run before; threads may be started from now on."""
        self.abandoned = False
        self.inspect = None
        self.now_s = 0.0
        self.quiet = False
        self.record = Record()
        self._threads = []
        self._steps = 0
        self._in_a_row = 0
        self._over = threading.Semaphore(0)

    def start(
        self,
        name: str,
        body: Callable[[], object],
        obstacle: Obstacle | None = None,
        *,
        background: bool = False,
    ) -> LogicalThread:
        """Add a thread; it moves when it is chosen, in a run.

        Args:
            name: For the record.
            body: What it calls.
            obstacle: The obstacle at which the thread waits before its first step.
            background: Whether the run ends without it.

        Raises:
            SchedulingError: there are too many threads.
        """
        if len(self._threads) == MOST_THREADS:
            raise SchedulingError(f"a run has {MOST_THREADS} threads at most")
        thread = LogicalThread(len(self._threads), name, body, background)
        thread.obstacle = obstacle
        self._threads.append(thread)
        self.record.names.append(name)
        thread.real = threading.Thread(
            target=self._live, args=(thread,), name=f"scheduled-{name}", daemon=True
        )
        if self.running is not None:
            thread.real.start()
        return thread

    def is_here(self) -> bool:
        """Decide whether a scheduled thread asks, and none of the process beside it."""
        return getattr(self._own, "is_scheduled", False)

    def execute(self, strategy: Strategy) -> Record:
        """Let all threads move until they have ended.

        Returns:
            The record, with the failure of the run if it has failed.

        Raises:
            Stalled: a thread reaches no yield point any more; the process should be ended.
        """
        self._strategy = strategy
        stalled = ""
        for thread in self._threads:
            assert thread.real is not None
            thread.real.start()
        with suppress(Abandoned):
            self._pass_on(None)
        if not self._over.acquire(timeout=self._longest_wait_s):
            stalled = self._where_it_stalled()
        self.running = None
        self._end_all()
        if stalled:
            raise Stalled(stalled)
        self.abandoned = False
        return self.record

    def after(self, seconds: float | None) -> float | None:
        """Return the reading of the run's clock after so many seconds; None without a number."""
        return None if seconds is None else self.now_s + seconds

    def reach(self, what: str, about: object = None, *, may_switch: bool = True) -> None:
        """Let the strategy choose the next thread at a yield point of the running one.

        Args:
            what: What the thread is about to do.
            about: The object of the operation.
            may_switch: Whether a search tries other threads here; a replayed schedule may always.
        """
        running = self.running
        if running is None:
            return
        if may_switch:
            self.mark(what, about)
        self._steps += 1
        self._in_a_row += 1
        if self._steps > STEP_LIMIT:
            self._fail(TooManySteps(f"the run has not ended after {STEP_LIMIT} yield points"))
        if self.inspect is not None:
            with self.unobserved():
                wrong = self.inspect()
            if wrong:
                self._fail(CheckFailed("; ".join(wrong)))
        self._pass_on(running, may_switch)

    @contextmanager
    def unobserved(self) -> Iterator[None]:
        """Look at the objects of a run from inside it, as if that were from outside."""
        running, self.running = self.running, None
        try:
            yield
        finally:
            self.running = running

    def wait_for(self, obstacle: Obstacle, what: str, about: object = None) -> None:
        """Wait until an obstacle of the running thread is gone, at a yield point."""
        running = self.running
        if running is None:
            raise SchedulingError(f"{what}: outside a run nobody can be waited for")
        running.obstacle = obstacle
        self.reach(what, about)
        running.obstacle = None

    def mark(self, what: str, about: object = None) -> None:
        """Write something down that the running thread does; no yield point."""
        if self.running is not None:
            self.record.marks.append(Mark(self.running.number, what, about))

    def _live(self, thread: LogicalThread) -> None:
        """Live as a real thread: wait to be chosen, make the call, hand over for good."""
        self._own.is_scheduled = True
        try:
            self._wait_at_gate(thread)
            if not self.abandoned:
                thread.call()
        except Abandoned:
            pass
        except SchedulingError as failure:
            self._note(failure)
        except BaseException as failure:
            self._note(ThreadFailed(f"thread {thread.name} has raised {failure!r}"), failure)
        thread.ended = True
        if not self.abandoned:
            if thread.held and self.locks_are_owned:
                self._note(ThreadFailed(f"thread {thread.name} has ended and holds a lock"))
            with suppress(Abandoned):
                self._pass_on(thread)

    def _note(self, failure: SchedulingError, cause: BaseException | None = None) -> None:
        if self.record.failure is None:
            failure.__cause__ = cause
            self.record.failure = failure

    def _fail(self, failure: SchedulingError) -> NoReturn:
        """End the run with a failure, from inside the running thread."""
        self._note(failure)
        self._abandon()
        raise Abandoned

    def _abandon(self) -> None:
        self.abandoned = True
        self.running = None
        self._over.release()

    def _pass_on(self, running: LogicalThread | None, may_switch: bool = True) -> None:
        """Choose the next thread, and hand over to that thread."""
        if self._threads and all(thread.ended or thread.background for thread in self._threads):
            # What is left is ended as after a failure, but there is none.
            self._abandon()
            return
        possible = [thread for thread in self._threads if thread.can_go_on()]
        while not possible and self._limits_run_out():
            possible = [thread for thread in self._threads if thread.can_go_on()]
        if not possible:
            self._nobody_goes_on()
            return
        if self._in_a_row > PATIENCE and running in possible and len(possible) > 1:
            possible.remove(running)
        if len(possible) == 1:
            chosen = possible[0]
        elif self.quiet and running in possible and running is not None:
            chosen = running
        else:
            chosen = self._choose(possible, running, may_switch)
        if chosen is running:
            return
        self.running = chosen
        self._in_a_row = 0
        chosen.gate.release()
        if running is not None and not running.ended:
            self._wait_at_gate(running)
            if self.abandoned:
                raise Abandoned

    def _wait_at_gate(self, thread: LogicalThread) -> None:
        """Wait to be chosen; a run that does not move any more is noticed by ``execute``."""
        if not thread.gate.acquire(timeout=2 * self._longest_wait_s):
            raise Abandoned

    def _choose(
        self, possible: list[LogicalThread], running: LogicalThread | None, may_switch: bool
    ) -> LogicalThread:
        assert self._strategy is not None
        numbers = tuple(thread.number for thread in possible)
        came = running.number if running in possible and running is not None else None
        if came is not None and not may_switch and not self._strategy.everywhere:
            numbers = (came,)
        try:
            chosen = self._strategy.choose(numbers, came)
        except SchedulingError as failure:
            self._fail(failure)
        self.record.choices.append(Choice(chosen, numbers, came))
        return self._threads[chosen]

    def _limits_run_out(self) -> bool:
        """Let the time come when the first wait ends, with all that have ended by then.

        Returns:
            Whether there was a wait with an end.
        """
        waiting = [thread.obstacle for thread in self._threads if not thread.ended]
        ends = [
            (until_s, obstacle)
            for obstacle in waiting
            if obstacle is not None and (until_s := obstacle.until_s()) is not None
        ]
        if not ends:
            return False
        first_s = min(until_s for until_s, _ in ends)
        self.now_s = max(self.now_s, first_s + OVERSHOOT_S)
        for until_s, obstacle in ends:
            if until_s <= self.now_s:
                obstacle.run_out()
        return True

    def _nobody_goes_on(self) -> None:
        waiting = [thread for thread in self._threads if not thread.ended]
        if not waiting:
            self.running = None
            self._over.release()
            return
        lines = [
            f"{thread.name} waits for {thread.obstacle.describe()}"
            for thread in waiting
            if thread.obstacle is not None
        ]
        self._note(Deadlock("; ".join(lines)))
        self._abandon()
        if any(thread.real is threading.current_thread() for thread in waiting):
            raise Abandoned

    def _where_it_stalled(self) -> str:
        running = self.running
        name = "nobody" if running is None else running.name
        last = self.record.marks[-1].what if self.record.marks else "the beginning"
        where = ""
        if running is not None and running.real is not None:
            frame = sys._current_frames().get(running.real.ident or 0)
            if frame is not None:
                code = frame.f_code
                where = f"; it is at {code.co_filename}:{frame.f_lineno}, in {code.co_name}"
        return (
            f"thread {name} has reached no yield point for {self._longest_wait_s:g} s, "
            f"after {last}{where}"
        )

    def _end_all(self) -> None:
        """End the threads that are left, one after the other."""
        self.abandoned = True
        for thread in self._threads:
            assert thread.real is not None
            if not thread.ended:
                thread.gate.release()
            # Who has stalled does not come to its end; it is a daemon.
            thread.real.join(self._longest_wait_s)
