"""``PurgatoryProposal`` as cases of a purgatory.

What is common to both modules of the purgatory is told in ``purgatory_calls`` (which steps make a
call), ``purgatory_states`` (the observables), ``purgatory_delays`` (when what expires) and
``purgatories`` (operations and answers). Beside those, ``estimate`` is the observable of that name.
``pending`` is not predicted: it is a number of the exact accounting.

The features and defects that change the order of a call's steps change no operation: their
behaviours are cases like any other, and an implementation that follows the released order differs
where it must.
"""

from collections.abc import Callable, Mapping

from purgatory_spec import profiles
from purgatory_spec.outcomes import Event, Value, completed, timed_out, tried
from purgatory_tla.cases.behaviours import Behaviour, Constants, Move, TlaState
from purgatory_tla.cases.comparison import STEPPED
from purgatory_tla.cases.predictions import Driven
from purgatory_tla.cases.purgatory.calls import Kind, PurgatoryMap
from purgatory_tla.cases.purgatory.purgatories import drive_purgatory
from purgatory_tla.cases.purgatory.states import Shared
from purgatory_tla.errors import UnexpectedOutput

_BEGINS = {
    "FirstTryFails": Kind.WATCH,
    "FirstTryCompletes": Kind.WATCH,
    "Raise": Kind.CHECK,
    "CancelForKey": Kind.CANCEL,
    "TakeExpired": Kind.RUN,
    "ReadEstimate": Kind.ADVANCE,
    "ReadSizeFirst": Kind.ADVANCE,
}

# The parts of the state that a step reads and changes. The tries of an operation that completes in
# its own watch are answered by its script, so that they read no events.
_CELLS = {
    "FirstTryCompletes": ("", "completed o"),
    "Insert": ("", "list k o"),
    "Count": ("", "count"),
    "SecondTryFails": ("events", ""),
    "SecondTryCompletes": ("", "completed o"),
    "LookFindsLive": ("completed o", ""),
    "LookFindsCompleted": ("completed o", ""),
    "AddToTimer": ("", "timer o"),
    "LookAgain": ("completed o", "timer o"),
    "Raise": ("", "events k"),
    "Snapshot": ("list k", ""),
    "DropCompleted": ("completed o", "list k o"),
    "FindLive": ("completed o", ""),
    "TryFails": ("completed o, events", ""),
    "TryCompletes": ("events", "completed o"),
    "Drop": ("", "list k o"),
    "CancelTimeOut": ("", "timer o"),
    "CancelForKey": ("list k", "list k"),
    "Withdraw": ("", "timer o"),
    "Advance": ("", "timer o, queue o"),
    "ReadEstimate": ("count", ""),
    "ReadSizeFirst": ("timer", ""),
    "NoPurge": ("timer", ""),
    "Purge": ("timer", ""),
    "ReadSizeAgain": ("timer", ""),
    "Reset": ("", "count"),
    "Sweep": ("completed, list k", ""),
    "TakeExpired": ("", "queue o"),
    "ExpiryLoses": ("completed o", ""),
    "ExpiryWins": ("", "completed o"),
    "ExpiryTests": ("completed o", ""),
    "ExpirySets": ("", "completed o"),
}

# With "owed" the number that the pass reads is all that the timer and the executor owe.
_READS_SIZE = ("ReadSizeFirst", "NoPurge", "Purge", "ReadSizeAgain")
_OWED = dict.fromkeys(_READS_SIZE, ("timer, queue, completed", ""))

_PREDICTED = frozenset(profiles.PurgatoryObservable) - {
    profiles.PurgatoryObservable.PENDING,
    profiles.PurgatoryObservable.CALLBACK_TIMER_SIZE,
}


def drive(behaviour: Behaviour, constants: Constants) -> Driven:
    """Return a behaviour of ``PurgatoryProposalHistory`` as far as it can be driven."""
    features = constants.read("Features", frozenset[str])
    thresholds = _thresholds(constants)
    all_keys = "all-keys" in features
    cells = {**_CELLS, **(_OWED if "owed" in features else {})}

    def satisfied(operation: int, events: Mapping[str, int]) -> bool:
        enough = (count >= thresholds(operation) for count in events.values())
        return all(enough) if all_keys else any(enough)

    read = PurgatoryMap(
        configuration=profiles.PurgatoryConfiguration(
            purge_interval=constants.read("PurgeInterval", int)
        ),
        profile=profiles.PurgatoryProfile(
            accounting=profiles.Accounting.PROPOSAL,
            check_drops=profiles.CheckDrops.AS_PASSED,
            executor=STEPPED,
            structure=profiles.Structure.DELAY_QUEUE_WHEEL,
            observables=_PREDICTED,
        ),
        begins=_BEGINS,
        expires="Advance",
        cells=lambda move: cells.get(move.step.action, ("", "")),
        shared=_shared,
        observe=_observe,
        events=_events,
        satisfied=satisfied,
        key=_key,
        purge_is_due=lambda _: True,
        refused=lambda _: "",
        keys=tuple(sorted(constants.read("Keys", frozenset[str]))),
    )
    return drive_purgatory(behaviour, read)


def _thresholds(constants: Constants) -> Callable[[int], int]:
    """Return the number of events that an operation needs; the module has two ways."""
    match constants.operator("Threshold"):
        case "Alternating":
            return lambda operation: 1 if operation % 2 else 2
        case "OutOfReach":
            most = constants.read("MaxEvents", int)
            return lambda _: most + 1
        case other:
            raise UnexpectedOutput(f"Threshold is {other or 'not an operator'}: nothing known")


def _shared(state: TlaState) -> Shared:
    lists = state.read("lists", dict[str, frozenset[int]])
    return Shared(
        lists={key: dict.fromkeys(listed, 1) for key, listed in lists.items()},
        completed=state.read("completed", frozenset[int]),
        timer=state.read("timer", frozenset[int]),
        queue=state.read("queue", frozenset[int]),
        count=state.read("estimate", int),
        events=state.read("events", dict[str, int]),
    )


def _observe(shared: Shared) -> dict[str, Value]:
    return {"estimate": shared.count}


def _key(move: Move) -> str:
    """Return the key of a step: named by the label, or else read from the walking completer."""
    named = [each for each in move.step.arguments[1:] if isinstance(each, str)]
    return named[0] if named else move.before.read("key", dict[str, str])[move.thread]


def _events(move: Move, operation: int) -> tuple[Event, ...]:
    name = str(operation)
    match move.step.action:
        case "FirstTryFails" | "FirstTryCompletes" | "SecondTryFails" | "SecondTryCompletes":
            return (tried(name),)
        case "TryCompletes":
            return (tried(name),)
        case "TryFails" if operation not in move.before.read("completed", frozenset[int]):
            return (tried(name),)
        case "CallOnComplete":
            return (completed(name),)
        case "CallOnExpiration":
            return (timed_out(name),)
    return ()
