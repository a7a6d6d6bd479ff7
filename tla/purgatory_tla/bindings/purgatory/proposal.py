"""The purgatory of ``purgatory_model.concurrent.proposal.model`` beside ``PurgatoryProposal.tla``.

The model keeps together what a thread has in hand; the module has a variable for each kind of
thing, with a value for every thread that may need it.
"""

from collections.abc import Callable, Mapping

from purgatory_model.concurrent.proposal.model import ConcurrentProposal, Feature, ProposalInstance
from purgatory_model.concurrent.proposal.state import (
    EXECUTOR,
    REAPER,
    Caller,
    Completer,
    ProposalState,
    Reaper,
    Thread,
)
from purgatory_tla.comparing.binding import Binding, Variable
from purgatory_tla.values.values import Value, function, to_tla

_THRESHOLDS = dict.fromkeys(((1, 2, 1), (1, 2), (1,)), "<- Alternating")

ACTIONS = {
    "FirstTryFails": "a caller hands in the next operation, and its first try waits",
    "FirstTryCompletes": "a caller hands in the next operation, and its first try completes it",
    "Insert": "a caller inserts its operation into the list of a key",
    "Count": "a caller counts its operation in the estimate",
    "SecondTryFails": "a caller's second try waits; it lets go of the lock",
    "SecondTryCompletes": "a caller's second try completes its operation",
    "LookFindsLive": "a caller sees that nobody has completed its operation",
    "LookFindsCompleted": "a caller sees that its operation is completed, and returns",
    "AddToTimer": "a caller adds its operation to the timer",
    "LookAgain": "a caller takes a completed operation out of the timer again, and returns",
    "CancelTimeOut": "whoever has completed an operation takes it out of the timer",
    "CallOnComplete": "whoever has completed an operation calls `on_complete`",
    "Raise": "a completer raises the event of a key",
    "Snapshot": "a completer begins to walk the key's list",
    "DropCompleted": "a walk meets a completed operation and drops it from the list",
    "FindLive": "a walk meets an operation that is not completed",
    "TryFails": "a walk's try waits, or finds the operation completed by now",
    "TryCompletes": "a walk's try completes the operation",
    "Drop": "a walk drops the operation that it has completed",
    "CancelForKey": "a completer detaches the list of a key",
    "Withdraw": "a completer takes the time-out of a detached operation",
    "Advance": "the reaper hands an operation that is due to the executor",
    "ReadEstimate": "the reaper reads the estimate",
    "NoPurge": "the reaper reads the timer's size, and leaves it at that",
    "Purge": "the reaper reads the timer's size, and will purge",
    "ReadSizeAgain": "the reaper reads the timer's size once more",
    "Reset": "the reaper sets the estimate to what it has read",
    "Sweep": "the reaper takes the completed operations out of the list of a key",
    "TakeExpired": "the executor takes an operation from its queue",
    "ExpiryLoses": "the executor finds the operation completed",
    "ExpiryWins": "the executor completes the operation",
    "CallOnExpiration": "the executor calls `on_expiration`",
}
_CANCELLING = frozenset({"CancelForKey", "Withdraw"})
_EXPIRING = frozenset({"Advance", "TakeExpired", "ExpiryLoses", "ExpiryWins", "CallOnExpiration"})
_OVERLAPPING = frozenset({"LookFindsCompleted", "SecondTryCompletes"})


def binding() -> Binding[ProposalState]:
    """Return a binding of two callers and operations; the purge test waits for the executor."""
    return bound(
        "purgatory-proposal",
        "The purgatory, proposal's accounting: two callers, a completer, the reaper, the executor.",
        ProposalInstance(
            callers=("c1", "c2"),
            keys=("k1",),
            most_events=1,
            purge_interval=1,
            features=frozenset({Feature.DRAINED}),
        ),
    )


def cancelling_binding() -> Binding[ProposalState]:
    """Return a binding of one operation under two keys, which completers may cancel."""
    return bound(
        "purgatory-proposal-cancelling",
        "The purgatory, proposal's accounting: cancel_for_key, two keys, two callers.",
        ProposalInstance(
            callers=("c1", "c2"),
            thresholds=(1,),
            most_events=1,
            features=frozenset({Feature.CANCEL_FOR_KEY}),
        ),
    )


def two_keys_binding() -> Binding[ProposalState]:
    """Return a binding of one operation under two keys, as it was released."""
    return bound(
        "purgatory-proposal-two-keys",
        "The purgatory, proposal's accounting: one operation under two keys, two callers.",
        ProposalInstance(callers=("c1", "c2"), thresholds=(1,), most_events=1),
    )


def amortised_binding() -> Binding[ProposalState]:
    """Return three operations under one key, one call at a time; one stale entry stays."""
    return bound(
        "purgatory-proposal-amortised",
        "The purgatory, proposal's accounting: amortised purges, one call at a time.",
        ProposalInstance(
            keys=("k1",),
            thresholds=(1, 2, 1),
            most_events=1,
            features=frozenset({Feature.AMORTISED, Feature.SEQUENTIAL}),
        ),
    )


def small_binding() -> Binding[ProposalState]:
    """Return a binding of one operation under one key, for a comparison of a few seconds."""
    return bound(
        "purgatory-proposal-small",
        "The purgatory, proposal's accounting: one operation under one key.",
        ProposalInstance(keys=("k1",), thresholds=(1,), most_events=1),
    )


def small_cancelling_binding() -> Binding[ProposalState]:
    """Return a binding of two operations under two keys, one thread at a time."""
    return bound(
        "purgatory-proposal-small-cancelling",
        "The purgatory, proposal's accounting: cancel_for_key, one call at a time.",
        ProposalInstance(
            most_events=1,
            purge_interval=1,
            features=frozenset({Feature.CANCEL_FOR_KEY, Feature.NO_TIME_OUTS, Feature.SEQUENTIAL}),
        ),
    )


def bound(name: str, title: str, instance: ProposalInstance) -> Binding[ProposalState]:
    """Return the binding of an instance; its lists are unordered, and it keeps no results."""
    model = ConcurrentProposal(instance)
    absent = frozenset[str]()
    if Feature.CANCEL_FOR_KEY not in instance.features:
        absent |= _CANCELLING
    if Feature.NO_TIME_OUTS in instance.features:
        absent |= _EXPIRING
    if Feature.SEQUENTIAL in instance.features:
        absent |= _OVERLAPPING
    return Binding(
        name=name,
        title=title,
        module="PurgatoryProposalHistory",
        constants=_constants(instance),
        initial=model.initial(),
        steps=model.steps,
        variables=_variables(instance),
        actions={action: words for action, words in ACTIONS.items() if action not in absent},
    )


def _constants(instance: ProposalInstance) -> dict[str, str]:
    values: dict[str, object] = {
        "Callers": frozenset(instance.callers),
        "Completers": frozenset(instance.completers),
        "Keys": frozenset(instance.keys),
        "OperationCount": len(instance.thresholds),
        "MaxEvents": instance.most_events,
        "PurgeInterval": instance.purge_interval,
        "Features": frozenset(str(each) for each in instance.features),
        "Defects": frozenset(str(each) for each in instance.defects),
    }
    named = {"Threshold": _THRESHOLDS[instance.thresholds]}
    return {name: to_tla(value) for name, value in values.items()} | named


def _variables(instance: ProposalInstance) -> Mapping[str, Variable[ProposalState]]:
    return {**_shared(instance), **_in_hand(instance), **_observed()}


def _shared(instance: ProposalInstance) -> dict[str, Variable[ProposalState]]:
    numbers = range(1, len(instance.thresholds) + 1)
    return {
        "completed": Variable("the completed operations", lambda state: state.completed),
        "holder": Variable(
            "who has the lock of an operation",
            lambda state: function({o: state.holders.get(o, "nobody") for o in numbers}),
        ),
        "callbacks": Variable(
            "how often `on_complete` of an operation was called",
            lambda state: function({o: state.callbacks.get(o, 0) for o in numbers}),
        ),
        "expirations": Variable(
            "the operations whose `on_expiration` was called", lambda state: state.expirations
        ),
        "lists": Variable(
            "what is in each list, without order",
            lambda state: function({k: frozenset(each) for k, each in state.lists.items()}),
        ),
        "timer": Variable("what is in the timer", lambda state: state.timer),
        "queue": Variable("the executor's queue, without order", lambda state: state.queue),
        "estimate": Variable("the estimated total of operations", lambda state: state.estimate),
        "events": Variable(
            "how many events each key had", lambda state: function(dict(state.events))
        ),
        "begun": Variable("how many operations were handed in", lambda state: state.begun),
    }


def _in_hand(instance: ProposalInstance) -> dict[str, Variable[ProposalState]]:
    workers = (*instance.callers, *instance.completers, EXECUTOR)
    return {
        "pc": Variable(
            "what each thread does next",
            _of_threads((*workers, REAPER), lambda thread: str(thread.place)),
        ),
        "operation": Variable(
            "the operation in hand, 0 for none", _of_threads(workers, _operation)
        ),
        "key": Variable(
            "the key of a completer's call, `none` outside", _of_threads(instance.completers, _key)
        ),
        "keysLeft": Variable(
            "the keys that a caller has still to insert into, the reaper to sweep",
            _of_threads((*instance.callers, REAPER), _keys_left),
        ),
        "toTry": Variable(
            "what a completer has still to try, or to cancel",
            _of_threads(instance.completers, _to_meet),
        ),
        "estimateRead": Variable(
            "the estimate that the reaper has read, 0 once it is used",
            lambda state: _reaper(state).estimate_read,
        ),
        "sizeRead": Variable(
            "the timer's size that the reaper has read, 0 once it is used",
            lambda state: _reaper(state).size_read,
        ),
    }


def _observed() -> dict[str, Variable[ProposalState]]:
    return {
        "lost": Variable("counts that the last reset wiped unseen", lambda state: state.lost),
        "overlooked": Variable(
            "operations in the executor when the last reset read the timer's size",
            lambda state: state.overlooked,
        ),
    }


def _of_threads(
    names: tuple[str, ...], value: Callable[[Thread], Value]
) -> Callable[[ProposalState], Value]:
    return lambda state: function({name: value(state.threads[name]) for name in names})


def _operation(thread: Thread) -> int:
    assert not isinstance(thread, Reaper)
    return thread.operation


def _key(thread: Thread) -> str:
    assert isinstance(thread, Completer)
    return thread.key or "none"


def _keys_left(thread: Thread) -> frozenset[str]:
    assert isinstance(thread, Caller | Reaper)
    return thread.keys_left


def _to_meet(thread: Thread) -> frozenset[int]:
    assert isinstance(thread, Completer)
    return frozenset(thread.to_meet)


def _reaper(state: ProposalState) -> Reaper:
    thread = state.threads[REAPER]
    assert isinstance(thread, Reaper)
    return thread
