"""Judge mutants, each in a process of its own.

The parent has imported everything already and forks: a fork takes milliseconds, where a fresh
interpreter takes a second. Whatever a mutant does to its process, it harms no other.

The child sets an alarm with the kernel's own action, which ends the process, and winds it up again
whenever its judge reports that it is getting on. So an endless loop is ended, and so is a wait for
a lock that is never released, even where the mutated code catches every exception.
"""

import os
import resource
import selectors
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from purgatory_lab.mutation.mutants import Mutant

_MOST_BYTES = 2 << 30
"""The address space that a child may have: a mutant may append without end."""

_MOST_SECONDS = 300
"""Processor time that a child may take, however well it says that it is getting on."""


class End(Enum):
    """The end of a mutant's judging."""

    SURVIVED = "survived"
    JUDGED = "a case failed"
    RAISED = "raised"
    NOT_IMPORTED = "not to be imported"
    TIMED_OUT = "timed out"
    CRASHED = "crashed"

    @property
    def killed(self) -> bool:
        """Decide whether the mutant was killed."""
        return self is not End.SURVIVED


@dataclass(frozen=True)
class Result:
    """The result of a mutant's judging.

    ``detail`` is a rule, an exception or a signal; ``stage`` is the one that the judge was in.
    """

    mutant: Mutant
    end: End
    detail: str
    stage: str = ""


class Killed(Exception):
    """Raised by a judge: the mutant was found out, in this way."""

    def __init__(self, end: End, detail: str) -> None:
        """Keep both parts of the result."""
        super().__init__(detail)
        self.end = end
        self.detail = detail


Judge = Callable[[Mutant, Callable[[str], None]], None]
"""Returns where the mutant survives; raises ``Killed``, or anything else, where it does not.

The second argument is to be called now and then with the name of the stage that the judge is in, as
a sign of getting on.
"""


def judge_all(
    mutants: Sequence[Mutant], judge: Judge, *, workers: int, limit_seconds: float
) -> Iterator[Result]:
    """Judge each mutant in a process of its own, some at a time.

    Args:
        mutants: Whom to judge.
        judge: Runs in the child.
        workers: How many processes at a time.
        limit_seconds: How long a child may go without a sign of getting on.

    Yields:
        The results in the order in which they come.
    """
    waiting = list(reversed(mutants))
    with selectors.DefaultSelector() as selector:
        while waiting or selector.get_map():
            while waiting and len(selector.get_map()) < workers:
                child = _Child(waiting.pop(), judge, limit_seconds)
                selector.register(child.pipe, selectors.EVENT_READ, child)
            for key, _ in selector.select():
                child = key.data
                if child.ended():
                    selector.unregister(child.pipe)
                    yield child.result()


class _Child:
    """A forked process, and the pipe that carries its result."""

    def __init__(self, mutant: Mutant, judge: Judge, limit_seconds: float) -> None:
        self._mutant = mutant
        self._told = b""
        self.pipe, told_by = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            _live(mutant, judge, limit_seconds, told_by)
        os.close(told_by)

    def ended(self) -> bool:
        """Read the bytes waiting in the pipe; whether the pipe has ended."""
        told = os.read(self.pipe, 1 << 16)
        self._told += told
        return not told

    def result(self) -> Result:
        """Return the result of the mutant, once the process has closed its pipe."""
        os.close(self.pipe)
        _, status = os.waitpid(self._process, 0)
        *stages, told = self._told.decode("utf-8").split("\n")
        stage = stages[-1] if stages else ""
        if os.WIFSIGNALED(status):
            number = signal.Signals(os.WTERMSIG(status))
            limits = {signal.SIGALRM, signal.SIGXCPU}
            end = End.TIMED_OUT if number in limits else End.CRASHED
            return Result(self._mutant, end, number.name, stage)
        name, _, detail = told.partition(" ")
        # Threads of a mutant may end the process before it has told anything.
        return Result(self._mutant, End[name] if name else End.CRASHED, detail, stage)


def _live(mutant: Mutant, judge: Judge, limit_seconds: float, told_by: int) -> None:
    """Live as a child; never return to the parent's work."""
    try:
        _bound(limit_seconds)
        end, detail = _judged(mutant, judge, limit_seconds, told_by)
        os.write(told_by, f"{end.name} {detail}".encode())
    finally:
        os._exit(0)


def _bound(limit_seconds: float) -> None:
    """Let the kernel bound the process, and let nobody see what it writes."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, limit_seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_SECONDS, _MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def _judged(mutant: Mutant, judge: Judge, limit_seconds: float, told_by: int) -> tuple[End, str]:
    told = ""

    def getting_on(stage: str) -> None:
        nonlocal told
        signal.setitimer(signal.ITIMER_REAL, limit_seconds)
        if stage != told:
            told = stage
            os.write(told_by, f"{stage}\n".encode())

    try:
        judge(mutant, getting_on)
    except Killed as killed:
        return killed.end, killed.detail
    except BaseException as failure:
        return End.RAISED, type(failure).__name__
    return End.SURVIVED, ""
