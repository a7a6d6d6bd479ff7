"""A subject of somebody's Python code: whatever the code raises is a failure of the subject.

``SystemExit`` is among it, with which a subject would end the check with an exit code of its own
choice. Ctrl-C is not. ``os._exit`` ends the process before anything can be caught; a campaign,
which asks a subject in a process of its own, notices it there.
"""

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from purgatory_conformance.subjects.subject import (
    FailureKind,
    Subject,
    SubjectFailure,
    UnsupportedConfigurationError,
)
from purgatory_spec.messages import Implementation
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component, Configuration, Profile

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
    """A subject whose own code may raise anything."""

    def __init__(self, subject: Subject) -> None:
        """Guard this subject's calls."""
        self._subject = subject

    @property
    def implementation(self) -> Implementation:
        """Return whom a report is about."""
        return guarded("implementation", lambda: self._subject.implementation)

    @property
    def profiles(self) -> Mapping[Component, Profile]:
        """Return the profiles that the subject declares.

        Raises:
            SubjectFailure: its code raised something.
        """
        return guarded("profiles", lambda: self._subject.profiles)

    def new(self, case: str, configuration: Configuration) -> None:
        """Make a fresh instance.

        Raises:
            UnsupportedConfigurationError: it offers no such instance.
            SubjectFailure: its code raised something else.
        """
        guarded("new", lambda: self._subject.new(case, configuration))

    def do_all(self, operations: Iterable[Operation]) -> Iterator[Outcome]:
        """Carry out operations one after another.

        Raises:
            SubjectFailure: its code raised something.
        """
        outcomes = guarded("do_all", lambda: iter(self._subject.do_all(operations)))
        while (outcome := guarded("a step", lambda: next(outcomes, None))) is not None:
            yield outcome

    def end(self) -> None:
        """Drop the instance.

        Raises:
            SubjectFailure: its code raised something.
        """
        guarded("end", self._subject.end)

    def close(self) -> None:
        """Release everything that the subject holds.

        Raises:
            SubjectFailure: its code raised something.
        """
        guarded("close", self._subject.close)
