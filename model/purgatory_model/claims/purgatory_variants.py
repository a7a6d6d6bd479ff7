"""Variants of the purgatory's model: what implementations do that are known to break a rule.

A variant says what may be seen of such an implementation, so that it can be followed beyond the
step in which it broke the rule, and any *other* fault of it is still found. A variant is a
flag that one method consults.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from purgatory_model.call import Branch, Branches, and_then, distinct
from purgatory_model.kafka_purgatory import appended
from purgatory_model.pending_tasks import Store
from purgatory_model.purgatory import PurgatoryModel, purgatory_model
from purgatory_model.step import Expectation
from purgatory_model.timer import TimerState
from purgatory_spec.profiles import PurgatoryConfiguration, PurgatoryProfile
from purgatory_spec.reasons import Reason

VARIANTS: Mapping[str, str] = {
    "stale_uncounted": (
        "stale operations are not bounded; the model is unchanged, only the bound is excused"
    ),
    "time_out_taken_with_key": (
        "cancelling for a key takes the time-out of every operation under it"
    ),
    "completed_uncounted": (
        "an operation that is completed already is tried once, and the estimate leaves it out"
    ),
    "completed_watched": (
        "an operation that is completed already is tried twice and added to the lists"
    ),
    "second_try_unarmed": "an operation whose second try throws is watched without a time-out",
    "no_keys_internal": "watching under no key fails in a way that no rule plans",
    "open_after_shutdown": (
        "after shutdown operations are watched, and their time-outs are lost or refused"
    ),
}
"""The variants by name, each with a sentence; what allows least beyond the rules comes first."""


@dataclass(frozen=True)
class PurgatoryVariant(PurgatoryModel):
    """A purgatory that follows known faults instead of the rules."""

    variants: frozenset[str] = frozenset()

    def _refusal(self, branch: Branch, keys: tuple[str, ...]) -> Reason | None:
        """Refuse to watch, but for what a variant lets pass."""
        reason = super()._refusal(branch, keys)
        if reason is Reason.CLOSED and "open_after_shutdown" in self.variants:
            reason = None if keys else Reason.INVALID_ARGUMENT
        if reason is Reason.INVALID_ARGUMENT and "no_keys_internal" in self.variants:
            return Reason.INTERNAL
        return reason

    def _watch_completed(self, branch: Branch, name: str, keys: tuple[str, ...]) -> Branches:
        """Watch an operation that is completed already as any other, or try it once."""
        if "completed_watched" in self.variants:
            return self._watch_open(branch, name, keys)
        if "completed_uncounted" in self.variants:
            return self.attempt(branch, name)
        return super()._watch_completed(branch, name, keys)

    def _add(self, branch: Branch, name: str, keys: tuple[str, ...]) -> Branches:
        """Add an operation to the lists, try it again and arm it."""
        completed = branch.operation(name).completed
        if self._rejects_delay(branch, name):
            return super()._add(branch, name, keys)
        if completed and "completed_uncounted" in self.variants:
            return (branch.returns(False),)
        unarmed = "second_try_unarmed" in self.variants
        if "completed_watched" not in self.variants if completed else not unarmed:
            return super()._add(branch, name, keys)
        tried = self.attempt(appended(self._counted(branch), name, keys), name)
        if unarmed:
            return and_then(tried, lambda returned: self._arm(returned, name))
        return distinct(armed for each in tried for armed in self._arm(each, name))

    def _armed(
        self, branch: Branch, name: str, expectation: Expectation[TimerState[Store]]
    ) -> Iterator[Branch]:
        """Lose the time-out that a closed timer refuses, or let the refusal reach the caller."""
        if expectation.rejected is None:
            yield from super()._armed(branch, name, expectation)
        else:
            yield from (branch, branch.raises(expectation.rejected))

    def _keeps_time_out(self, branch: Branch, name: str) -> bool:
        """Decide whether an operation that was cancelled for a key keeps its time-out."""
        taken = "time_out_taken_with_key" in self.variants
        return not taken and super()._keeps_time_out(branch, name)


def purgatory_variant_model(
    configuration: PurgatoryConfiguration, profile: PurgatoryProfile, names: frozenset[str]
) -> PurgatoryModel:
    """Return the model of a purgatory with the named variants.

    Raises:
        ValueError: there is no such variant.
    """
    unknown = names - VARIANTS.keys()
    if unknown:
        raise ValueError(f"there is no variant {min(unknown)!r}")
    model = purgatory_model(configuration, profile)
    return PurgatoryVariant(configuration, profile, model.timer, names)
