"""A subject in this process: what its code raises, or does not return from, is its failure.

``SystemExit`` is among what it raises, with which a subject would end the check with an exit code
of its own choice. Ctrl-C is not. ``os._exit`` ends the process before anything can be caught; a
campaign, which asks a subject in a process of its own, notices it there.

The subject's code runs in a thread of its own. It is given some operations ahead, since a change of
threads for each step would cost more than most steps.
"""

import math
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from itertools import islice
from typing import TypeVar

from purgatory_conformance.subjects.calling_thread import CallingThread
from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_conformance.subjects.subject import (
    FailureKind,
    Subject,
    SubjectFailure,
    UnsupportedConfigurationError,
)
from purgatory_spec.messages import Implementation
from purgatory_spec.operations import Operation, Wait
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component, Configuration, Profile

TIME_LIMIT_S = 10.0
"""The time limit of a step of a subject in this process, unless one is declared, s."""

_AHEAD = 32
_LOOK_S = 0.05
"""The time for which a wait hears no Ctrl-C on Windows, and the error of a step's time, s."""

Answer = TypeVar("Answer")


def guarded(what: str, call: Callable[[], Answer]) -> Answer:
    """Return what a call of a user's code gives.

    Raises:
        SubjectFailure: the code has raised anything but Ctrl-C, this failure, or a refusal.
    """
    try:
        return call()
    except (KeyboardInterrupt, SubjectFailure, UnsupportedConfigurationError):
        raise
    except BaseException as error:
        last = traceback.format_exception_only(error)[-1].strip()
        raise SubjectFailure(
            FailureKind.ERRORED,
            f"{what} raised {last}",
            standard_error="".join(traceback.format_exception(error)),
        ) from error


class GuardedSubject:
    """A subject whose own code may raise anything, and need not return."""

    def __init__(self, subject: Subject, time_limit_seconds: float = TIME_LIMIT_S) -> None:
        """Guard this subject's calls, each of which may take so many seconds.

        Without a limit, ``math.inf``, they are made in the thread that asks.
        """
        self.time_limit_seconds = time_limit_seconds
        self._subject = subject
        self._thread = CallingThread()
        self._implementation: Implementation | None = None
        self._profiles: Mapping[Component, Profile] | None = None

    @property
    def implementation(self) -> Implementation:
        """Return whom a report is about."""
        if self._implementation is None:
            self._implementation = self._called(
                "implementation", lambda: self._subject.implementation
            )
        return self._implementation

    @property
    def profiles(self) -> Mapping[Component, Profile]:
        """Return the profiles that the subject declares.

        Raises:
            SubjectFailure: its code raised something.
        """
        if self._profiles is None:
            self._profiles = self._called("profiles", lambda: self._subject.profiles)
        return self._profiles

    def new(self, case: str, configuration: Configuration) -> None:
        """Make a fresh instance of the subject.

        Raises:
            UnsupportedConfigurationError: it offers no such instance.
            SubjectFailure: its code raised something else, or did not return.
        """
        self._called("new", lambda: self._subject.new(case, configuration))

    def do_all(self, operations: Iterable[Operation]) -> Iterator[Outcome]:
        """Carry out operations one after another.

        Raises:
            SubjectFailure: its code raised something, or did not return.
        """
        asked = _Noted(operations)
        outcomes = self._called("do_all", lambda: iter(self._subject.do_all(asked)))
        came: list[Outcome] = []
        ended = False
        while not ended:
            came.clear()
            failure: SubjectFailure | None = None
            try:
                self._called("a step", lambda: _answer(outcomes, came), came, asked)
            except SubjectFailure as failed:
                failure = failed
            ended = len(came) < _AHEAD
            yield from came
            if failure is not None:
                raise failure

    def end(self) -> None:
        """Drop the present instance of the subject.

        Raises:
            SubjectFailure: its code raised something, or did not return.
        """
        self._called("end", self._subject.end)

    def close(self) -> None:
        """Release everything that the subject holds.

        Raises:
            SubjectFailure: its code raised something, or did not return.
        """
        self._called("close", self._subject.close)
        self._thread.end()

    def _called(
        self,
        what: str,
        call: Callable[[], Answer],
        came: Sized = (),
        asked: "_Noted | None" = None,
    ) -> Answer:
        """Return what a call of the subject gives, made in the other thread.

        ``came`` grows with the answers of a call that gives several to what is ``asked``.
        """
        if math.isinf(self.time_limit_seconds):
            return guarded(what, call)
        answers: list[Answer] = []
        raised: list[BaseException] = []

        def carry_out() -> None:
            try:
                answers.append(guarded(what, call))
            except BaseException as error:
                raised.append(error)

        done = self._thread.begin(carry_out)
        count, since = 0, time.monotonic()
        try:
            while not done.wait(_LOOK_S):
                if len(came) != count:
                    count, since = len(came), time.monotonic()
                allowed_s = self.time_limit_seconds + (asked.waits_s if asked is not None else 0)
                if time.monotonic() - since > allowed_s:
                    raise self._hung(what)
        except KeyboardInterrupt:
            self._leave()
            raise
        if raised:
            raise raised[0]
        return answers[0]

    def _hung(self, what: str) -> SubjectFailure:
        """Leave a call behind that does not return; return the failure, with the stacks."""
        return SubjectFailure(
            FailureKind.HUNG,
            f"{what} has not returned within {self.time_limit_seconds:g} s",
            standard_error=self._leave(),
        )

    def _leave(self) -> str:
        # To close the instance may wait for what the call holds.
        if isinstance(self._subject, InProcessSubject):
            self._subject.forget()
        return self._thread.leave()


class _Noted:
    """Operations on their way to a subject; notes how long the latest one waits on purpose, s."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self.waits_s = 0.0
        self._operations = operations

    def __iter__(self) -> Iterator[Operation]:
        for operation in self._operations:
            self.waits_s = operation.for_ms / 1000 if type(operation) is Wait else 0.0
            yield operation


def _answer(outcomes: Iterator[Outcome], came: list[Outcome]) -> None:
    """Take the next outcomes; fewer than could be taken are the last ones."""
    for outcome in islice(outcomes, _AHEAD):
        came.append(outcome)
