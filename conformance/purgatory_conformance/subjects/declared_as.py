"""A subject that is judged by another profile than the one it declares."""

from collections.abc import Iterable, Iterator, Mapping

from purgatory_conformance.subjects.subject import Subject
from purgatory_conformance.subjects.time_limit import TimeLimit
from purgatory_spec.messages import Implementation
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component, Configuration, Profile, component_of


class DeclaredAs:
    """A subject as if it declared this profile; it is asked the same and stays open."""

    def __init__(self, subject: Subject, profile: Profile) -> None:
        """Put a profile before a subject's own one of that component."""
        self._subject = subject
        self._profile = profile
        self._limit = TimeLimit(subject)

    @property
    def time_limit_seconds(self) -> float:
        """Return the limit of a step, s; 0 for a subject without one."""
        return self._limit.present_s

    @time_limit_seconds.setter
    def time_limit_seconds(self, seconds: float) -> None:
        self._limit.present_s = seconds

    @property
    def implementation(self) -> Implementation:
        """Return the implementation that a report is about."""
        return self._subject.implementation

    @property
    def profiles(self) -> Mapping[Component, Profile]:
        """Return the declared choices, of one component those put before the subject's own."""
        return {**self._subject.profiles, component_of(self._profile): self._profile}

    def new(self, case: str, configuration: Configuration) -> None:
        """Make a fresh instance."""
        self._subject.new(case, configuration)

    def do_all(self, operations: Iterable[Operation]) -> Iterator[Outcome]:
        """Carry out operations one after another."""
        return self._subject.do_all(operations)

    def end(self) -> None:
        """Drop the present instance."""
        self._subject.end()

    def close(self) -> None:
        """Release everything that the subject holds."""
        self._subject.close()
