"""Variants of the purgatory's model: what implementations do that are known to break a rule.

A variant says what may be seen of such an implementation, so that it can be followed beyond the
step in which it broke the rule, and any *other* fault of it is still found. A variant is a flag
that the model consults at one place.
"""

from collections.abc import Mapping

from purgatory_model.pending_tasks import Store
from purgatory_model.purgatory import PurgatoryModel, purgatory_model
from purgatory_spec.profiles import PurgatoryConfiguration, PurgatoryProfile

VARIANTS: Mapping[str, str] = {
    "completed_uncounted": (
        "an operation that is completed already is tried once, and the estimate leaves it out"
    ),
    "completed_watched": (
        "an operation that is completed already is tried twice and added to the lists"
    ),
    "no_keys_internal": "watching under no key fails in a way that no rule plans",
    "open_after_shutdown": (
        "after shutdown operations are watched, and their time-outs are lost or refused"
    ),
    "second_try_unarmed": "an operation whose second try throws is watched without a time-out",
    "stale_uncounted": (
        "stale operations are not bounded; the model is unchanged, only the bound is excused"
    ),
    "time_out_taken_with_key": (
        "cancelling for a key takes the time-out of every operation under it"
    ),
}
"""The variants by name, each with a sentence."""


def purgatory_variant_model(
    configuration: PurgatoryConfiguration, profile: PurgatoryProfile, names: frozenset[str]
) -> PurgatoryModel[Store]:
    """The model of a purgatory with the named variants.

    Raises:
        ValueError: there is no such variant.
    """
    unknown = names - VARIANTS.keys()
    if unknown:
        raise ValueError(f"there is no variant {min(unknown)!r}")
    return purgatory_model(configuration, profile, names)
