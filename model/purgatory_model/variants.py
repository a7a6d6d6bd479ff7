"""Variants of the model: what implementations do that are known to break a rule."""

from purgatory_model.pending_tasks import Store
from purgatory_model.timer import TimerModel
from purgatory_spec.profiles import TimerConfiguration, TimerProfile


def variant_model(
    configuration: TimerConfiguration, profile: TimerProfile, names: frozenset[str]
) -> TimerModel[Store]:
    """The model with the named variants.

    Raises:
        ValueError: there is no such variant.
    """
    raise ValueError(f"there is no variant {min(names)!r}")
