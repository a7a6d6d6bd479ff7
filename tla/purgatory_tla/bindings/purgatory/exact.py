"""The purgatory of ``purgatory_model.concurrent.exact.model`` beside ``PurgatoryExact.tla``.

The model keeps together what an operation is and what a thread has in hand, and writes a bag of
operations as a tuple; the module has a variable for each kind of thing, with a value for every
operation or thread that may need it, and counts the places in a bag.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from purgatory_model.concurrent.exact.instance import CALLBACK, EXECUTOR, ExactInstance
from purgatory_model.concurrent.exact.model import ConcurrentExact
from purgatory_model.concurrent.exact.state import Bag, Delayed, ExactState, Thread
from purgatory_tla.bindings.purgatory.exact_actions import actions_of
from purgatory_tla.comparing.binding import Binding, Variable
from purgatory_tla.values.values import Value, function, to_tla


def binding() -> Binding[ExactState]:
    """Return two callers and operations, one key; the second operation needs two events."""
    return bound(
        "purgatory-exact",
        "The purgatory, exact accounting: two callers, a completer, a purger, the executor.",
        TWO_CALLERS,
    )


def cancelling_binding() -> Binding[ExactState]:
    """Return one operation under two keys; a thread that sees it completed stops inserting."""
    return bound(
        "purgatory-exact-cancelling",
        "The purgatory, exact accounting, with a canceller, a forcer and two keys.",
        CANCELLING_AND_FORCING,
    )


def amortised_binding() -> Binding[ExactState]:
    """Return three operations under one key, of which one may be stale without a purge."""
    return bound(
        "purgatory-exact-amortised",
        "The purgatory, exact accounting: three operations, a forcer, amortised purges.",
        AMORTISED,
    )


def small_binding() -> Binding[ExactState]:
    """Return a binding of one operation under one key, for a comparison of a few seconds."""
    return bound(
        "purgatory-exact-small",
        "The purgatory, exact accounting: one operation under one key.",
        SMALL,
    )


def small_cancelling_binding() -> Binding[ExactState]:
    """Return one operation under two keys, without events, for a comparison of a few seconds."""
    return bound(
        "purgatory-exact-small-cancelling",
        "The purgatory, exact accounting: one operation, a canceller, a forcer.",
        SMALL_CANCELLING,
    )


def failing_binding() -> Binding[ExactState]:
    """Return one operation whose try, callback and inserts may fail."""
    return bound(
        "purgatory-exact-failing",
        "The purgatory, exact accounting: tries, callbacks and inserts that raise.",
        FAILING,
    )


def looking_binding() -> Binding[ExactState]:
    """Return one operation that walks, sweeps and tries look at in smaller steps."""
    return bound(
        "purgatory-exact-looking",
        "The purgatory, exact accounting: looking, posting and sweeping in smaller steps.",
        LOOKING,
    )


def re_entrant_binding() -> Binding[ExactState]:
    """Return two operations, the callback of one of which makes calls."""
    return bound(
        "purgatory-exact-re-entrant",
        "The purgatory, exact accounting: a callback watches, checks and cancels.",
        RE_ENTRANT,
    )


def by_entry_binding() -> Binding[ExactState]:
    """Return one operation that stands twice under a key, which is cancelled place by place."""
    return bound(
        "purgatory-exact-by-entry",
        "The purgatory, exact accounting: duplicate keys, cancelled place by place.",
        BY_ENTRY,
    )


ONE = ExactInstance(operations=1, features=frozenset({"time-outs", "stops-inserting"}))
SMALL = replace(ONE, keys=("k1",))
SMALL_CANCELLING = replace(ONE, completers=(), cancellers=("canceller",), forcers=("forcer",))
TWO_CALLERS = ExactInstance(
    callers=("caller 1", "caller 2"), keys=("k1",), demanding=frozenset({2}), purge_interval=1
)
AMORTISED = ExactInstance(
    completers=(),
    forcers=("forcer",),
    operations=3,
    keys=("k1",),
    features=frozenset({"amortised", "stops-inserting"}),
)
FAILING = replace(
    ONE,
    purgers=(),
    throwing=frozenset({1}),
    features=frozenset({"time-outs", "throwing-try", "stops-inserting", "insert-fails"}),
)
LOOKING = replace(
    SMALL,
    max_events=2,
    demanding=frozenset({1}),
    features=frozenset(
        {
            *("time-outs", "post-early", "evaluate-then-win", "conditions-fall"),
            *("sweep-by-operation", "walk-looks-again"),
        }
    ),
)
RE_ENTRANT = ExactInstance(
    completers=(),
    forcers=("forcer",),
    purgers=(),
    keys=("k1",),
    features=frozenset({"re-entrant-check", "re-entrant-watch", "re-entrant-cancel"}),
)
BY_ENTRY = replace(
    SMALL,
    completers=(),
    cancellers=("canceller",),
    forcers=("forcer",),
    purgers=(),
    duplicates=2,
    features=frozenset({"time-outs", "cancel-by-entry"}),
)
CANCELLING_AND_FORCING = replace(ONE, cancellers=("canceller",), forcers=("forcer",), purgers=())


def bound(name: str, title: str, instance: ExactInstance) -> Binding[ExactState]:
    """Return the binding of an instance, without what only programs and histories need.

    Raises:
        ValueError: the instance is for programs, keeps order, or follows a fault under a name that
            the module does not have.
    """
    if instance.programs or instance.ordered:
        raise ValueError(f"{name}: the module knows neither results of calls nor orders of lists")
    model = ConcurrentExact(instance)
    return Binding(
        name=name,
        title=title,
        module="PurgatoryExactHistory",
        constants=_constants(instance),
        initial=model.initial(),
        steps=model.steps,
        variables=_variables(instance),
        actions=actions_of(instance),
    )


def _constants(instance: ExactInstance) -> dict[str, str]:
    values: dict[str, object] = {
        "Callers": frozenset(instance.callers),
        "Completers": frozenset(instance.completers),
        "Cancellers": frozenset(instance.cancellers),
        "Forcers": frozenset(instance.forcers),
        "Purgers": frozenset(instance.purgers),
        "Operations": frozenset(range(1, instance.operations + 1)),
        "Keys": frozenset(instance.keys),
        "Demanding": instance.demanding,
        "Throwing": instance.throwing,
        "MaxEvents": instance.max_events,
        "MaxCalls": instance.max_calls,
        "Duplicates": instance.duplicates,
        "PurgeInterval": instance.purge_interval,
        "Features": instance.features,
        "Defects": frozenset[str](),
    }
    return {name: to_tla(value) for name, value in values.items()}


def _variables(instance: ExactInstance) -> Mapping[str, Variable[ExactState]]:
    return {**_shared(instance), **_of_operations(), **_in_hand(instance)}


def _shared(instance: ExactInstance) -> dict[str, Variable[ExactState]]:
    return {
        "events": Variable(
            "how often the event of each key has happened", lambda state: function(state.events)
        ),
        "timer": Variable("the operations in the timer", lambda state: state.timer),
        "queue": Variable("the executor's queue, without order", lambda state: state.queue),
        "lists": Variable(
            "how often each operation stands in the list of each key",
            lambda state: function(
                {key: _counts(bag, instance) for key, bag in state.lists.items()}
            ),
        ),
        "stale": Variable("the shared count of stale entries", lambda state: state.stale),
    }


def _of_operations() -> dict[str, Variable[ExactState]]:
    def of_each(value: Callable[[Delayed], Value]) -> Callable[[ExactState], Value]:
        return lambda state: function(
            {number: value(each) for number, each in state.operations.items()}
        )

    return {
        "completed": Variable(
            "the completed bit of each operation's word", of_each(lambda each: each.completed)
        ),
        "entries": Variable(
            "the number of entries in each operation's word", of_each(lambda each: each.entries)
        ),
        "callbacks": Variable(
            "how often the callback of each operation has run",
            of_each(lambda each: each.callbacks),
        ),
        "calls": Variable(
            "how often each operation was given to watch", of_each(lambda each: each.calls)
        ),
        "raised": Variable(
            "whether a try of an operation has raised, or its appending",
            of_each(lambda each: each.raised),
        ),
    }


def _in_hand(instance: ExactInstance) -> dict[str, Variable[ExactState]]:
    everybody = (*instance.program_threads, EXECUTOR, CALLBACK)
    walkers = (*instance.completers, *instance.cancellers, CALLBACK)
    return {
        "pc": Variable("what each thread does next", _of(everybody, lambda each: each.stage)),
        "operation": Variable(
            "the operation that a thread is busy with, 0 for none",
            _of(everybody, lambda each: each.operation),
        ),
        "key": Variable(
            "the key that a thread checks, `none` outside of a check",
            _of(everybody, lambda each: each.key or "none"),
        ),
        "balance": Variable(
            "what a thread has still to add to the count", _of(everybody, lambda each: each.balance)
        ),
        "promised": Variable(
            "how often a caller has still to append to the list of each key",
            _of(
                (*instance.callers, CALLBACK),
                lambda each: function({key: each.promised.count(key) for key in instance.keys}),
            ),
        ),
        "batch": Variable(
            "what is left of a copied or detached list, by operation",
            _of(walkers, lambda each: _counts(each.batch, instance)),
        ),
        "unswept": Variable(
            "the keys and operations that a purger has still to look at",
            _of(instance.purgers, lambda each: each.unswept),
        ),
    }


def _of(names: tuple[str, ...], value: Callable[[Thread], Value]) -> Callable[[ExactState], Value]:
    return lambda state: function({name: value(state.threads[name]) for name in names})


def _counts(bag: Bag, instance: ExactInstance) -> Value:
    """Return a bag as a function from operations."""
    return function({number: bag.count(number) for number in range(1, instance.operations + 1)})
