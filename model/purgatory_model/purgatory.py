"""The purgatory of any profile: Kafka's, and all that the rules allow beside it.

``kafka_purgatory`` has the calls and the purge; each class of ``choices`` adds what else is legal,
one on top of the other. A profile says which of the ways are open.
"""

from purgatory_model.choices.releases import LazyTimeOuts, timer_profile
from purgatory_model.purgatory_state import OperationState, PurgatoryState
from purgatory_model.timer import declared_timer_model
from purgatory_spec import profiles

__all__ = ["OperationState", "PurgatoryModel", "PurgatoryState", "purgatory_model", "timer_profile"]


class PurgatoryModel(LazyTimeOuts):
    """A purgatory of a configuration and a profile, over a timer, with every legal way."""


def purgatory_model(
    configuration: profiles.PurgatoryConfiguration, profile: profiles.PurgatoryProfile
) -> PurgatoryModel:
    """Return the model of a purgatory.

    Raises:
        ValueError: the executor has threads of its own, whose order no model predicts.
    """
    if profile.executor is profiles.Executor.THREAD:
        raise ValueError("a purgatory is judged with a stepped or an inline executor")
    timer = declared_timer_model(configuration.timer, timer_profile(profile))
    return PurgatoryModel(configuration, profile, timer)
