"""Exploring an instance of a concurrent model for claims about its states."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from purgatory_model.claims.explorer import Exploration, explore
from purgatory_model.overlapping.interleaving import LabelledSteps, State, Step

Instance = TypeVar("Instance")


@dataclass(frozen=True, slots=True)
class Examined(Generic[State]):
    """A claim with its sentence, and what came of exploring an instance for it."""

    claim: str
    sentence: str
    found: Exploration[State, Step]


@dataclass(frozen=True, slots=True)
class Examiner(Generic[Instance, State]):
    """Asks instances of one model for claims.

    Attributes:
        claims: Claims about states by name: their sentence and their check.
        model: The model of an instance.
    """

    claims: Mapping[str, tuple[str, Callable[[Instance, State], bool]]]
    model: Callable[[Instance], LabelledSteps[State]]

    def breaks(
        self, instance: Instance, *claims: str
    ) -> Callable[[State, Step, State], str | None]:
        """Return a check of steps for the explorer: of the states that they lead to.

        Raises:
            KeyError: there is no such claim.
        """
        asked = [self.claims[claim] for claim in claims]

        def broken(_: State, __: Step, after: State) -> str | None:
            return next((words for words, holds in asked if not holds(instance, after)), None)

        return broken

    def examine(self, instance: Instance, claim: str, *, limit: int = 1_000_000) -> Examined[State]:
        """Explore an instance until a state breaks a claim, or to the end.

        Raises:
            KeyError: there is no such claim.
        """
        model = self.model(instance)
        broken = self.breaks(instance, claim)
        found = explore(model.initial(), model.steps, broken, limit=limit)
        return Examined(claim, self.claims[claim][0], found)
