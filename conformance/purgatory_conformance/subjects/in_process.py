"""A subject that lives in this process: a profile and a way to make instances per component."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from purgatory_spec.messages import Implementation
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component, Configuration, Profile, component_of


class Instance(Protocol):
    """A timer, purgatory or memory pool behind the step vocabulary."""

    def do(self, operation: Operation) -> Outcome:
        """Carry out one operation and return its outcome."""

    def close(self) -> None:
        """Release what the instance holds; no thread is left behind."""


Make = Callable[[Configuration], Instance]
"""A class of instances, or a function that makes them; the configuration says of which sort."""


class InProcessSubject:
    """A subject in process; it holds one instance at a time."""

    def __init__(
        self,
        implementation: Implementation,
        profiles: Mapping[Component, Profile],
        make: Make,
    ) -> None:
        """Make a subject of which nothing runs until the first ``new``.

        Args:
            implementation: Whom a report is about.
            profiles: The declared choices of each component that is offered.
            make: Makes an instance; the configuration's type says of which component.
        """
        self._implementation = implementation
        self._profiles = profiles
        self._make = make
        self._instance: Instance | None = None

    @property
    def implementation(self) -> Implementation:
        """Return the implementation that a report is about."""
        return self._implementation

    @property
    def profiles(self) -> Mapping[Component, Profile]:
        """Return the profiles that the subject declares."""
        return self._profiles

    def new(self, case: str, configuration: Configuration) -> None:
        """Make a fresh instance, in place of the one before.

        Raises:
            ValueError: the component is not offered.
        """
        self.end()
        component = component_of(configuration)
        if component not in self._profiles:
            raise ValueError(f"this subject offers no {component.value.replace('_', ' ')}")
        self._instance = self._make(configuration)

    def do_all(self, operations: Iterable[Operation]) -> Iterator[Outcome]:
        """Carry out operations one after another."""
        instance = self._instance
        if instance is None:
            raise ValueError("a step before the first new")
        for operation in operations:
            yield instance.do(operation)

    def end(self) -> None:
        """Close the present instance, if any, and drop it."""
        if self._instance is not None:
            self._instance.close()
            self._instance = None

    def forget(self) -> None:
        """Drop the instance without closing it: a call of it has not returned."""
        self._instance = None

    def close(self) -> None:
        """Drop the instance and close."""
        self.end()


def subject_of(make: Make, profile: Profile) -> InProcessSubject:
    """Return a subject of one component: a class of instances, and its choices.

    Raises:
        TypeError: the class lacks a method that is needed, or does not take a configuration.
    """
    name = getattr(make, "__name__", type(make).__name__)
    if not callable(make):
        raise TypeError(f"{make!r} makes no instances: a class or a function is needed")
    for method in ("do", "close") if isinstance(make, type) else ():
        if not callable(getattr(make, method, None)):
            raise TypeError(
                f"{name} has no method {method!r}: a class under test needs "
                "__init__(self, configuration), do(self, operation) and close(self); a timer may "
                "have add(self, task, delay_ms) and advance(self, to_ms) in their place"
            )
    try:
        inspect.signature(make).bind(None)
    except TypeError as error:
        raise TypeError(f"{name} is not made with one configuration: {error}") from None
    implementation = Implementation(name=name, language="Python")
    return InProcessSubject(implementation, {component_of(profile): profile}, make)
