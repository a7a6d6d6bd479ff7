"""``PurgatoryExact`` as cases of a purgatory.

What is common to both modules of the purgatory is told in ``purgatory_calls`` (which steps make a
call), ``purgatory_states`` (the observables), ``purgatory_delays`` (when what expires) and
``purgatories`` (operations and answers). Beside those:

=====================  =============================================================================
observable             in a state of TLA+
=====================  =============================================================================
``pending``            how many operations are in ``timer`` and in ``queue``
``estimate``           ``pending`` and what ``stale`` is above zero
=====================  =============================================================================

Not driven: tries and callbacks that raise, callbacks that call the purgatory, conditions that fall
again.
"""

from collections.abc import Mapping

from purgatory_spec import profiles
from purgatory_spec.outcomes import Event, Value, timed_out, tried
from purgatory_spec.outcomes import completed as called_back
from purgatory_tla.cases.behaviours import Behaviour, Constants, Move, TlaState
from purgatory_tla.cases.comparison import STEPPED
from purgatory_tla.cases.predictions import Driven
from purgatory_tla.cases.purgatory.calls import Kind, PurgatoryMap, operation_of
from purgatory_tla.cases.purgatory.purgatories import drive_purgatory
from purgatory_tla.cases.purgatory.states import Shared

_BEGINS = {
    "BeginWatch": Kind.WATCH,
    "BeginCheck": Kind.CHECK,
    "BeginCancel": Kind.CANCEL,
    "BeginForce": Kind.FORCE,
    "BeginPurge": Kind.ADVANCE,
    "Take": Kind.RUN,
}

_WINS = "completed o, entries o"

# The parts of the state that a step reads and changes; see ``_cells`` for the tries.
_CELLS = {
    "BeginWatch": ("", _WINS),
    "SwapWord": ("", _WINS),
    "Post": ("", "count"),
    "PostEarly": ("", "count"),
    "Settle": ("", "count"),
    "CallBack": ("", "timer o"),
    "Arm": ("completed o", "timer o, entries o"),
    "PromiseAlone": ("completed o", "entries o"),
    "ArmLate": ("", "timer o"),
    "LookAgain": ("completed o", ""),
    "Withdraw": ("", "timer o"),
    "Insert": ("", "list k o"),
    "StopInserting": ("completed o", ""),
    "LatePromise": ("completed o", "entries o"),
    "SecondTry": ("", _WINS),
    "BeginCheck": ("", "events k"),
    "LateEvent": ("", "events k"),
    "CopyList": ("list k", ""),
    "Walk": ("events", _WINS),
    "Drop": ("", "list k o"),
    "BeginCancel": ("list k", "list k"),
    "CancelOne": ("completed o, entries o", "entries o, timer o"),
    "CancelTimeOut": ("", "timer o"),
    "Expire": ("count", "timer o, queue o"),
    "Take": ("", "queue o"),
    "Decide": ("", _WINS),
    "BeginForce": ("", _WINS),
    "BeginPurge": ("count", ""),
    "Reset": ("", "count"),
    "Sweep": ("completed, list k", ""),
    "Remove": ("completed, list k", ""),
}

_RAISES = frozenset({"BeginWatch", "SecondTry", "Walk", "FailInserting"})


def drive(behaviour: Behaviour, constants: Constants) -> Driven:
    """Return a behaviour of ``PurgatoryExactHistory`` as far as it can be driven."""
    demanding = constants.read("Demanding", frozenset[int])
    throwing = constants.read("Throwing", frozenset[int])
    interval = constants.read("PurgeInterval", int)
    each = constants.read("Duplicates", int)
    keys = sorted(constants.read("Keys", frozenset[str]))

    def satisfied(operation: int, events: Mapping[str, int]) -> bool:
        return any(count >= (2 if operation in demanding else 1) for count in events.values())

    read = PurgatoryMap(
        configuration=profiles.PurgatoryConfiguration(purge_interval=interval),
        profile=profiles.PurgatoryProfile(
            accounting=profiles.Accounting.EXACT,
            check_drops=profiles.CheckDrops.AS_PASSED,
            throwing_try=profiles.ThrowingTry.GO_ON,
            executor=STEPPED,
            structure=profiles.Structure.DELAY_QUEUE_WHEEL,
            observables=frozenset(profiles.PurgatoryObservable)
            - {profiles.PurgatoryObservable.CALLBACK_TIMER_SIZE},
        ),
        begins=_BEGINS,
        expires="Expire",
        cells=_cells,
        shared=_shared,
        observe=_observe,
        events=_events,
        satisfied=satisfied,
        key=_key,
        purge_is_due=lambda shared: shared.count > interval,
        refused=lambda move: _refused(move, throwing),
        keys=tuple(key for key in keys for _ in range(each)),
    )
    return drive_purgatory(behaviour, read)


def _cells(move: Move) -> tuple[str, str]:
    """Return the cells of a step; an operation's first tries read no events."""
    reads, changes = _CELLS.get(move.step.action, ("", ""))
    if move.step.action in ("BeginWatch", "SecondTry"):
        operation = operation_of(move)
        first = move.after.read("calls", dict[int, int])[operation] == 1
        wins = _is_completed(move.after, operation) and not _is_completed(move.before, operation)
        if not first or (move.step.action == "SecondTry" and not wins):
            reads = "events"
    return reads, changes


def _refused(move: Move, throwing: frozenset[int]) -> str:
    action = move.step.action
    if move.thread == "callback" or action == "Resume":
        return "a callback calls the purgatory"
    if action == "Fall":
        return "a condition falls again: satisfied is satisfied for good"
    if action in _RAISES and move.before.values["raised"] != move.after.values["raised"]:
        return "a try raises, or appending to a list does"
    if action == "CallBack" and operation_of(move) in throwing:
        return "a callback raises"
    return ""


def _is_completed(state: TlaState, operation: int) -> bool:
    return state.read("completed", dict[int, bool])[operation]


def _shared(state: TlaState) -> Shared:
    completed = state.read("completed", dict[int, bool])
    return Shared(
        lists=state.read("lists", dict[str, dict[int, int]]),
        completed=frozenset(operation for operation, yes in completed.items() if yes),
        timer=state.read("timer", frozenset[int]),
        queue=state.read("queue", frozenset[int]),
        count=state.read("stale", int),
        events=state.read("events", dict[str, int]),
        entries=state.read("entries", dict[int, int]),
    )


def _observe(shared: Shared) -> dict[str, Value]:
    pending = len(shared.timer) + len(shared.queue)
    return {"pending": pending, "estimate": pending + max(0, shared.count)}


def _key(move: Move) -> str:
    """Return the key of a step: named by the label, or else read from the checking thread."""
    named = [each for each in move.step.arguments[1:] if isinstance(each, str)]
    return named[0] if named else move.before.read("key", dict[str, str])[move.thread]


def _events(move: Move, operation: int) -> tuple[Event, ...]:
    name = str(operation)
    match move.step.action:
        case "BeginWatch" | "SecondTry" | "Walk" if not _is_completed(move.before, operation):
            return (tried(name),)
        case "CallBack":
            expires = move.thread == "executor"
            return (called_back(name), *((timed_out(name),) if expires else ()))
    return ()
