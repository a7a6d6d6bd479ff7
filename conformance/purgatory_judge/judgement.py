"""The judgement of a step, and the divergence of a wrong step."""

from dataclasses import dataclass, field

from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome


class TooManyStates(Exception):
    """The rules leave so much open that the judge cannot follow: the case is inconclusive."""


@dataclass(frozen=True)
class Divergence:
    """A step whose outcome the model does not allow.

    ``rule`` is the requirement id that is broken, ``kind`` a plain word for the sort of mismatch
    (``missing``, ``early``, ...); ``expected`` and ``seen`` are sentences for people. ``before``
    is the model's state before the step, ``after`` the one that it expected. ``also`` are further
    rules that the mismatch may be put down to: an extreme number and what it happened to.
    ``right`` is the outcome that was expected; None where a rule asks for less than an outcome.
    """

    rule: str
    kind: str
    expected: str
    seen: str
    operation: Operation
    outcome: Outcome
    before: object = None
    after: object = None
    also: tuple[str, ...] = ()
    right: Outcome | None = None

    @property
    def cause(self) -> tuple[str, str]:
        """Return the rule and kind by which failing cases are reported together."""
        return self.rule, self.kind


@dataclass(slots=True)
class Judgement:
    """The rules that a step put to the test, and the divergence, if there is one."""

    visited: set[str] = field(default_factory=set)
    divergence: Divergence | None = None
