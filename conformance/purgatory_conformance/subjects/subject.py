"""The interface of an implementation under test, wherever it runs."""

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Protocol

from purgatory_conformance.problems import EXIT_SUBJECT_FAILED, Foreseen
from purgatory_conformance.subjects.profile_rules import problem_of
from purgatory_spec.messages import Implementation
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component, Configuration, Profile


class Subject(Protocol):
    """An implementation of some components behind the step vocabulary.

    A subject serves one case at a time: ``new``, any number of steps, ``end``.
    """

    @property
    def implementation(self) -> Implementation:
        """Return the implementation that a report is about."""

    @property
    def profiles(self) -> Mapping[Component, Profile]:
        """Return the declared choices of each component that is offered.

        Raises:
            SubjectFailure: the subject could not be asked, or its answer was no answer.
        """

    def new(self, case: str, configuration: Configuration) -> None:
        """Make a fresh instance of the configuration's component; the one before is gone.

        Raises:
            UnsupportedConfigurationError: the implementation does not offer such an instance.
            SubjectFailure: the subject could not be asked, or its answer was no answer.
        """

    def do_all(self, operations: Iterable[Operation]) -> Iterator[Outcome]:
        """Carry out operations one after another, yielding an outcome for each.

        A subject may be asked ahead of its answers; the outcomes come in order.

        Raises:
            SubjectFailure: the subject could not be asked, or its answer was no answer.
        """

    def end(self) -> None:
        """Drop the present instance."""

    def close(self) -> None:
        """Release everything; no process or thread is left behind."""


class UnsupportedConfigurationError(Exception):
    """The subject does not offer an instance of this configuration; the case is left out."""


class FailureKind(Enum):
    """The way in which a subject failed to answer; each is a verdict of its own."""

    NOT_STARTED = "not started"
    CRASHED = "crashed"
    HUNG = "hung"
    CLOSED_PIPE = "closed its pipe"
    BANNER = "wrote something before its first reply"
    GARBAGE = "wrote something that is no reply"
    WRONG_TYPES = "wrote a reply with wrong types"
    TOO_DEEP = "wrote a reply that is nested too deeply"
    TOO_LONG = "wrote a line that is too long"
    FLOODED = "wrote replies that nobody asked for"
    OUT_OF_ORDER = "answered out of order"
    WRONG_ID = "answered a request that was never made"
    MISSING_OBSERVABLE = "did not show a declared observable"
    VERSION = "speaks another version of the protocol"
    NO_COMPONENT = "does not offer the component"
    ERRORED = "reported a failure of its own"


class SubjectFailure(Foreseen):
    """A subject did not answer as the protocol asks.

    ``asked`` is the request, ``received`` what came instead, ``standard_error`` the last lines
    that the process wrote there; each may be empty.
    """

    exit_code = EXIT_SUBJECT_FAILED

    def __init__(
        self,
        kind: FailureKind,
        explanation: str,
        *,
        asked: str = "",
        received: str = "",
        standard_error: str = "",
    ) -> None:
        """Keep the parts, so that a report may show them apart."""
        super().__init__(f"the subject {kind.value}: {explanation}")
        self.kind = kind
        self.explanation = explanation
        self.asked = asked
        self.received = received
        self.standard_error = standard_error


def profile_of(subject: Subject, component: Component) -> Profile:
    """Return the declared choices of one component.

    Raises:
        SubjectFailure: the subject does not offer the component, or could not be asked, or
            declares what no component is judged by.
    """
    profiles = subject.profiles
    if component not in profiles:
        offered = ", ".join(each.value for each in profiles) or "nothing"
        raise SubjectFailure(
            FailureKind.NO_COMPONENT, f"{component.value} was asked for, it offers {offered}"
        )
    problem = problem_of(profiles[component])
    if problem:
        raise SubjectFailure(FailureKind.WRONG_TYPES, problem)
    return profiles[component]
