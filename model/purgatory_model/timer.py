"""The timer of any profile: Kafka's, and all that the rules allow beside it.

``kafka_timer`` has what a timer does, ``choices`` what other timers and executors do; the store is
Kafka's wheel, or says no more than the rules for every timer.
"""

from purgatory_model.arithmetic import floor_to
from purgatory_model.choices.refusals import AnyExecutor
from purgatory_model.choices.timers import TickedTasks
from purgatory_model.kafka_timer import TimerState
from purgatory_model.pending_tasks import AnyStore, PendingTasks, Store
from purgatory_model.timing_wheel import TimingWheel
from purgatory_spec import profiles

__all__ = [
    "TimerModel",
    "TimerState",
    "declared_timer_model",
    "ticked_timer_model",
    "timer_model",
    "timing_wheel_model",
]


class TimerModel(AnyExecutor[AnyStore]):
    """A timer of a configuration and a profile, over a store, with every legal way."""


def timer_model(
    configuration: profiles.TimerConfiguration, profile: profiles.TimerProfile
) -> TimerModel[PendingTasks]:
    """Return the model of any timer."""
    return TimerModel(configuration, profile, PendingTasks())


def ticked_timer_model(
    configuration: profiles.TimerConfiguration, profile: profiles.TimerProfile
) -> TimerModel[TickedTasks]:
    """Return the model of a timer that does each tick once; without ticks, each ms."""
    tick_ms = 1 if profile.rounding is profiles.Rounding.EXACT else configuration.tick_ms
    first = TickedTasks(tick_ms, floor_to(configuration.start_ms, tick_ms))
    return TimerModel(configuration, profile, first)


def timing_wheel_model(
    configuration: profiles.TimerConfiguration, profile: profiles.TimerProfile
) -> TimerModel[TimingWheel]:
    """Return the model of a timer that is a hierarchical timing wheel.

    Raises:
        ValueError: expiries are not rounded, so that no bucket could be passed down for good.
    """
    if profile.rounding is profiles.Rounding.EXACT:
        raise ValueError("a timing wheel rounds an expiry to its tick, and 'rounding' is 'exact'")
    start = floor_to(configuration.start_ms, configuration.tick_ms)
    wheel = TimingWheel(configuration.tick_ms, configuration.wheel_size, start)
    return TimerModel(configuration, profile, wheel)


def declared_timer_model(
    configuration: profiles.TimerConfiguration, profile: profiles.TimerProfile
) -> TimerModel[Store]:
    """Return the model of a timer of this profile: Kafka's wheel, a ticker's, or any."""
    model: object
    if profile.structure is profiles.Structure.DELAY_QUEUE_WHEEL:
        model = timing_wheel_model(configuration, profile)
    elif profile.already_due is profiles.AlreadyDue.NEXT_TICK:
        model = ticked_timer_model(configuration, profile)
    else:
        model = timer_model(configuration, profile)
    assert isinstance(model, TimerModel)
    return model
