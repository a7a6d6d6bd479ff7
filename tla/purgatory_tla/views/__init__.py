"""The shared counts of each module's states, under the names that they have everywhere.

A view is a function from a state, and the model's constants, to named counts in the order of their
columns. The trace holds variables alone; a count that a module defines is computed here anew.
"""

from collections.abc import Callable, Mapping

from purgatory_tla.views.lemmas import exact_accounting, operation_lock, watcher_list_removal
from purgatory_tla.views.memory_pool import channel_muting, memory_pool, memory_pool_calls
from purgatory_tla.views.purgatory import exact, proposal, purgatory_calls
from purgatory_tla.views.sayings import State, show
from purgatory_tla.views.timer import timer, timing_wheel, timing_wheel_steps

Constants = Mapping[str, str]
"""The constants that a model sets, as TLA+ text."""

Counts = Mapping[str, object]
"""The counts of one state, by name."""

VIEWS: dict[str, Callable[[State, Constants], Counts]] = {
    "ChannelMuting": channel_muting,
    "ExactAccounting": exact_accounting,
    "MemoryPool": memory_pool,
    "MemoryPoolCalls": memory_pool_calls,
    "MemoryPoolInductive": memory_pool,
    "OperationLock": operation_lock,
    "PurgatoryCalls": purgatory_calls,
    "PurgatoryExact": exact,
    "PurgatoryExactCalls": exact,
    "PurgatoryExactRefinement": exact,
    "PurgatoryProposal": proposal,
    "PurgatoryProposalPasses": proposal,
    "Timer": timer,
    "TimingWheel": timing_wheel,
    "TimingWheelSteps": timing_wheel_steps,
    "WatcherListRemoval": watcher_list_removal,
}


def counts_of(module: str, state: State, constants: Constants) -> dict[str, str]:
    """Return the counts of a state in words; none for a module that has no view."""
    view = VIEWS.get(module)
    if view is None:
        return {}
    return {name: show(value) for name, value in view(state, constants).items()}
