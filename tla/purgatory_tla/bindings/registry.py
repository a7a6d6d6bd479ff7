"""All bindings, by the names that the command line takes.

A module of this package offers ``binding()``, the instance that is reported, and
``small_binding()``, one of the same module that takes a few seconds and is there for controls.
"""

from collections.abc import Callable
from typing import Any

from purgatory_tla.bindings import (
    channel_muting,
    exact_accounting,
    memory_pool,
    memory_pool_calls,
    timer,
    timing_wheel,
)
from purgatory_tla.bindings.purgatory import calls as purgatory_calls
from purgatory_tla.bindings.purgatory import exact as purgatory_exact
from purgatory_tla.bindings.purgatory import proposal as purgatory_proposal
from purgatory_tla.comparing.binding import Binding

Made = Callable[[], Binding[Any]]
"""Makes a binding; its module is that of the binding's sources."""

REPORTED: tuple[Made, ...] = (
    timer.binding,
    timer.rounding_up_binding,
    timing_wheel.binding,
    memory_pool.binding,
    memory_pool.strict_binding,
    memory_pool.identity_binding,
    memory_pool_calls.binding,
    memory_pool_calls.strict_binding,
    memory_pool_calls.unbounded_binding,
    purgatory_calls.binding,
    purgatory_calls.published_binding,
    purgatory_calls.leaving_binding,
    purgatory_calls.amortised_binding,
    purgatory_exact.binding,
    purgatory_exact.cancelling_binding,
    purgatory_proposal.binding,
    purgatory_proposal.cancelling_binding,
    purgatory_proposal.two_keys_binding,
    exact_accounting.binding,
    exact_accounting.two_operations_binding,
    channel_muting.binding,
    channel_muting.released_binding,
    channel_muting.two_threads_binding,
)
SMALL: tuple[Made, ...] = (
    timer.small_binding,
    timer.small_rounding_up_binding,
    timing_wheel.small_binding,
    timing_wheel.rounding_binding,
    memory_pool.small_binding,
    memory_pool.small_strict_binding,
    memory_pool.small_identity_binding,
    memory_pool_calls.small_binding,
    memory_pool_calls.small_unbounded_binding,
    purgatory_calls.small_binding,
    purgatory_calls.small_published_binding,
    purgatory_exact.small_binding,
    purgatory_exact.small_cancelling_binding,
    purgatory_exact.amortised_binding,
    purgatory_exact.failing_binding,
    purgatory_exact.looking_binding,
    purgatory_exact.re_entrant_binding,
    purgatory_exact.by_entry_binding,
    purgatory_proposal.small_binding,
    purgatory_proposal.small_cancelling_binding,
    purgatory_proposal.amortised_binding,
    exact_accounting.small_binding,
    channel_muting.small_binding,
    channel_muting.small_all_at_once_binding,
    channel_muting.small_three_channels_binding,
    channel_muting.small_released_binding,
    channel_muting.small_two_threads_binding,
    channel_muting.small_two_threads_all_at_once_binding,
    channel_muting.small_looks_then_takes_binding,
)


def reported_bindings() -> dict[str, Binding[Any]]:
    """Return the instances that are compared by default."""
    return _by_name(REPORTED)


def small_bindings() -> dict[str, Binding[Any]]:
    """Return smaller instances of the same modules."""
    return _by_name(SMALL)


def _by_name(made: tuple[Made, ...]) -> dict[str, Binding[Any]]:
    every = [make() for make in made]
    return {each.name: each for each in every}
