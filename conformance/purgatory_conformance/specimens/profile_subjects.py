"""A subject for each value that a profile may declare, and the same subject declared otherwise.

The first conforms: the value is a legal choice. The second, its sibling, breaks the rule that the
choice belongs to; where the other value asks for less, the sibling conforms as well.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial

import msgspec

from purgatory_conformance.specimens.small import (
    channel_muting,
    memory_pool,
    purgatory,
    timer,
)
from purgatory_conformance.specimens.small.channel_muting import (
    Habits,
    SmallServer,
    small_server_subject,
)
from purgatory_conformance.specimens.small.memory_pool import small_pool_subject
from purgatory_conformance.specimens.small.other_purgatories import (
    AtEndPurgatory,
    BackwardsPurgatory,
    EagerPurgatory,
    LazyPurgatory,
    OneTryPurgatory,
    PassingPurgatory,
    TickerPurgatory,
    WheelPurgatory,
)
from purgatory_conformance.specimens.small.other_timers import (
    HeapTimer,
    LazyHeapTimer,
    OneByOneTimer,
    PassingTimer,
    ThreadsTimer,
    ThreadTimer,
    TickerTimer,
)
from purgatory_conformance.specimens.small.purgatory import small_purgatory
from purgatory_conformance.specimens.small.timer import small_subject
from purgatory_conformance.specimens.wrong.checking import cancel_answers_live, newest_first
from purgatory_conformance.subjects.subject import Subject
from purgatory_spec.profiles import (
    Accounting,
    AlreadyDue,
    AskAgain,
    CancelResult,
    CheckDrops,
    CheckOrder,
    Component,
    EndWhileWaiting,
    Executor,
    Feature,
    FirstTry,
    LargerDelay,
    MemoryPoolFeature,
    NegativeDelay,
    Observable,
    Profile,
    PurgeDue,
    Recovery,
    RefusedTask,
    ReleaseCancelled,
    ReleaseValidation,
    Rounding,
    SameTickOrder,
    SevereThrow,
    Structure,
    ThrowingTry,
    TimerProfile,
    ZeroRequest,
    component_of,
)
from purgatory_spec.requirements import requirements


@dataclass(frozen=True)
class ProfileSubject:
    """A subject that declares a value, and its sibling, which behaves alike and declares another.

    ``sibling_rule`` is the requirement that the sibling breaks; empty where it breaks none.
    """

    name: str
    value: str
    make: Callable[[], Subject]
    sibling: Callable[[], Subject]
    sibling_rule: str
    component: Component
    sibling_also: tuple[str, ...] = ()
    """Requirements that the sibling breaks as well, and that may be named with equal right."""


_SUBJECTS: dict[Component, Callable[..., Subject]] = {
    Component.TIMER: small_subject,
    Component.PURGATORY: small_purgatory,
    Component.MEMORY_POOL: small_pool_subject,
    Component.CHANNEL_MUTING: small_server_subject,
}

_RULES = {
    "rounding": "TIMER-ROUNDING",
    "executor": "TIMER-EXECUTOR-ORDER",
    "negative_delay": "TIMER-NEGATIVE-DELAY",
    "larger_delay": "TIMER-LARGEST-DELAY",
    "largest_delay_ms": "TIMER-LARGEST-DELAY",
    "release_cancelled": "TIMER-RELEASES",
    "refused_task": "TIMER-EXECUTOR-REFUSES",
    "purge_due": "PURGATORY-PURGE-START",
    "check_order": "PURGATORY-CHECK-ORDER",
    "check_drops": "PURGATORY-CHECK-DROPS",
    "severe_throw": "TIMER-THROWING-TASK",
    "throwing_try": "PURGATORY-CHECK-THROWS",
    "cancel_result": "PURGATORY-CANCEL-RESULT",
    "zero_request": "POOL-ZERO-REQUEST",
    "ask_again": "MUTING-RECOVER",
    "end_while_waiting": "MUTING-END-WHILE-WAITING",
}
"""The rules of the choices that are not the condition of the rule that they belong to."""


def _sibling_rule(behaves: Profile, declares: Profile, choice: str) -> str:
    """Return the rule that a subject breaks which behaves as one profile and declares another.

    Where the choice is the condition of rules, it is the first of those that apply only to what is
    declared, and none where no rule is added.
    """
    component = component_of(behaves)
    if component is Component.PURGATORY and choice == "refused_task":
        return "PURGATORY-EXECUTOR-REFUSES"
    if component is Component.PURGATORY and choice in TimerProfile.__struct_fields__:
        return "PURGATORY-TIME-OUT"  # what the purgatory's timer does shows in the time-outs
    if choice in _RULES:
        return _RULES[choice]
    added = (
        rule.id
        for rule in requirements(component)
        if rule.applies_to(declares) and not rule.applies_to(behaves)
    )
    return next(added, "")


def _pair(
    base: Profile,
    kept: Enum | int,
    declared: Enum | int,
    *specimen: Callable[..., object],
    rule: str | None = None,
    suffix: str = "",
    also: tuple[str, ...] = (),
    **declares: frozenset[MemoryPoolFeature],
) -> ProfileSubject:
    """Return the subject that keeps to a value, and as its sibling the one that declares another.

    Args:
        base: The other choices of both.
        kept: The value, whose type says of which choice it is.
        declared: The sibling's value.
        specimen: Makes instances, where this is not the plain small specimen.
        rule: The rule that the sibling breaks; it follows from the rules' conditions if None.
        suffix: The end of the name, where a value has several subjects.
        also: Rules that the sibling breaks with equal right.
        declares: What else the sibling declares.
    """
    component = component_of(base)
    choice = (
        "largest_delay_ms"
        if isinstance(kept, int)
        else re.sub(r"(?<!^)(?=[A-Z])", "_", type(kept).__name__).lower()
    )
    value = f"{choice} {kept.value if isinstance(kept, Enum) else kept}"
    behaves = msgspec.structs.replace(base, **{choice: kept})
    sibling = msgspec.structs.replace(base, **{choice: declared}, **declares)
    subject = _SUBJECTS[component]
    prefix = "" if component is Component.TIMER else f"{component.value} "
    return ProfileSubject(
        name=f"{prefix}{value}{suffix}".replace(" ", "-").replace("_", "-"),
        value=value,
        make=partial(subject, *specimen, profile=behaves),
        sibling=partial(subject, *specimen, profile=sibling, behaves=behaves),
        sibling_rule=_sibling_rule(behaves, sibling, choice) if rule is None else rule,
        component=component,
        sibling_also=also,
    )


_change = msgspec.structs.replace

_TIMER = timer.PROFILE
_LIMIT_MS = 1000
_LIMITED = _change(_TIMER, largest_delay_ms=_LIMIT_MS)
_ANY = _change(
    _TIMER,
    structure=Structure.ANY,
    observables=frozenset({Observable.SIZE, Observable.QUEUED, Observable.ADVANCE_RESULT}),
)
_NO_SCRIPTS = _change(
    _ANY,
    features=_ANY.features - {Feature.SCRIPT_ADD, Feature.SCRIPT_CANCEL, Feature.SCRIPT_ADVANCE},
)
_RUN_AT_ONCE = _change(_ANY, executor=Executor.INLINE)
_ROUNDED_UP = _change(_ANY, rounding=Rounding.UP)
_WHEEL = Structure.DELAY_QUEUE_WHEEL

_TIMERS = (
    _pair(_TIMER, Rounding.DOWN, Rounding.UP),
    _pair(_TIMER, Rounding.UP, Rounding.DOWN),
    _pair(_ANY, Rounding.EXACT, Rounding.DOWN, HeapTimer),
    _pair(_TIMER, SameTickOrder.NONE, SameTickOrder.FIFO),
    _pair(_TIMER, SameTickOrder.FIFO, SameTickOrder.NONE),
    _pair(_TIMER, Executor.STEPPED, Executor.INLINE),
    _pair(_TIMER, Executor.INLINE, Executor.STEPPED),
    _pair(_TIMER, Executor.THREAD, Executor.STEPPED, ThreadTimer),
    _pair(_NO_SCRIPTS, Executor.THREADS, Executor.THREAD, ThreadsTimer, rule="TIMER-TICK-ORDER"),
    _pair(_ANY, Structure.ANY, _WHEEL, HeapTimer),
    _pair(_ANY, _WHEEL, Structure.ANY),
    _pair(_TIMER, NegativeDelay.ALREADY_DUE, NegativeDelay.REJECT),
    _pair(_TIMER, NegativeDelay.REJECT, NegativeDelay.ALREADY_DUE),
    _pair(_ROUNDED_UP, NegativeDelay.AS_ZERO, NegativeDelay.ALREADY_DUE, HeapTimer),
    _pair(_TIMER, NegativeDelay.NOT_OFFERED, NegativeDelay.REJECT),
    _pair(_LIMITED, LargerDelay.REJECT, LargerDelay.SATURATE),
    _pair(_LIMITED, LargerDelay.SATURATE, LargerDelay.REJECT),
    _pair(_LIMITED, LargerDelay.NOT_OFFERED, LargerDelay.REJECT),
    _pair(_TIMER, RefusedTask.KEPT, RefusedTask.CALLER_RUNS),
    _pair(_ANY, RefusedTask.KEPT, RefusedTask.CALLER_RUNS, HeapTimer, suffix="-on-a-heap"),
    _pair(_TIMER, RefusedTask.CALLER_RUNS, RefusedTask.KEPT),
    _pair(_ANY, AlreadyDue.FREE, AlreadyDue.NEXT_TICK, HeapTimer, rule="TIMER-NOT-EARLY"),
    _pair(_ANY, AlreadyDue.NEXT_TICK, AlreadyDue.FREE, TickerTimer, rule="TIMER-ZERO-DELAY"),
    _pair(_ANY, SevereThrow.PASSED_ON, SevereThrow.AS_ORDINARY, PassingTimer),
    _pair(
        _RUN_AT_ONCE, SevereThrow.PASSED_ON, SevereThrow.AS_ORDINARY, PassingTimer, suffix="-inline"
    ),
    _pair(
        _RUN_AT_ONCE,
        SevereThrow.PASSED_ON,
        SevereThrow.AS_ORDINARY,
        OneByOneTimer,
        suffix="-one-by-one",
    ),
    _pair(_TIMER, SevereThrow.AS_ORDINARY, SevereThrow.PASSED_ON, rule=""),
    _pair(_ANY, ReleaseCancelled.WHEN_DUE, ReleaseCancelled.AT_ONCE, LazyHeapTimer),
    _pair(_TIMER, ReleaseCancelled.AT_ONCE, ReleaseCancelled.WHEN_DUE, rule=""),
    _pair(_TIMER, _TIMER.largest_delay_ms, _LIMIT_MS),
    _pair(_TIMER, _LIMIT_MS, _TIMER.largest_delay_ms),
)

_PURGATORY = purgatory.PROFILE
_ESTIMATE = _change(purgatory.ESTIMATE_PROFILE, throwing_try=ThrowingTry.GO_ON)
_EXACT = _change(_ESTIMATE, accounting=Accounting.EXACT)
_UP = _change(_PURGATORY, rounding=Rounding.UP)

_PURGATORIES = (
    _pair(_ESTIMATE, Accounting.PROPOSAL, Accounting.EXACT),
    _pair(_ESTIMATE, Accounting.EXACT, Accounting.PROPOSAL),
    _pair(_ESTIMATE, Accounting.ANY, Accounting.PROPOSAL),
    _pair(_EXACT, PurgeDue.FIXED, PurgeDue.AMORTISED),
    _pair(_EXACT, PurgeDue.AMORTISED, PurgeDue.FIXED),
    _pair(_PURGATORY, FirstTry.BEFORE_WATCHING, FirstTry.NONE, rule="PURGATORY-WATCH-SECOND-TRY"),
    _pair(
        _PURGATORY,
        FirstTry.NONE,
        FirstTry.BEFORE_WATCHING,
        OneTryPurgatory,
        rule="PURGATORY-WATCH-SECOND-TRY",
    ),
    _pair(_PURGATORY, CheckOrder.AS_WATCHED, CheckOrder.FREE, rule=""),
    _pair(_PURGATORY, CheckOrder.FREE, CheckOrder.AS_WATCHED, newest_first),
    _pair(_PURGATORY, CheckDrops.AS_PASSED, CheckDrops.AT_END),
    _pair(_PURGATORY, CheckDrops.AT_END, CheckDrops.AS_PASSED, AtEndPurgatory),
    _pair(_PURGATORY, CheckDrops.EITHER, CheckDrops.AS_PASSED, AtEndPurgatory),
    _pair(
        _PURGATORY,
        CheckDrops.EVERYWHERE,
        CheckDrops.AS_PASSED,
        EagerPurgatory,
        also=("PURGATORY-WATCH-SECOND-TRY",),
    ),
    _pair(_PURGATORY, AlreadyDue.FREE, AlreadyDue.NEXT_TICK),
    _pair(_PURGATORY, AlreadyDue.NEXT_TICK, AlreadyDue.FREE, TickerPurgatory),
    _pair(
        _UP,
        NegativeDelay.ALREADY_DUE,
        NegativeDelay.AS_ZERO,
        also=("PURGATORY-REWATCH",),
    ),
    _pair(_UP, NegativeDelay.AS_ZERO, NegativeDelay.ALREADY_DUE),
    _pair(
        _PURGATORY,
        NegativeDelay.REJECT,
        NegativeDelay.ALREADY_DUE,
        rule="PURGATORY-WATCH-WAITS",
    ),
    _pair(
        _PURGATORY,
        NegativeDelay.NOT_OFFERED,
        NegativeDelay.REJECT,
        rule="PURGATORY-WATCH-WAITS",
    ),
    _pair(_PURGATORY, RefusedTask.KEPT, RefusedTask.CALLER_RUNS),
    _pair(_PURGATORY, RefusedTask.CALLER_RUNS, RefusedTask.KEPT),
    _pair(_PURGATORY, ThrowingTry.STOP, ThrowingTry.GO_ON),
    _pair(_PURGATORY, ThrowingTry.GO_ON, ThrowingTry.STOP),
    _pair(
        _PURGATORY,
        SevereThrow.PASSED_ON,
        SevereThrow.AS_ORDINARY,
        PassingPurgatory,
        rule="PURGATORY-CHECK-THROWS",
        also=("PURGATORY-EXPIRY-THROWS",),
    ),
    _pair(_PURGATORY, SevereThrow.AS_ORDINARY, SevereThrow.PASSED_ON, rule=""),
    _pair(_PURGATORY, CancelResult.WHOLE_LIST, CancelResult.LIVE),
    _pair(_PURGATORY, CancelResult.LIVE, CancelResult.WHOLE_LIST, cancel_answers_live),
    _pair(
        _PURGATORY,
        ReleaseCancelled.WHEN_DUE,
        ReleaseCancelled.AT_ONCE,
        LazyPurgatory,
        rule="PURGATORY-RELEASES",
    ),
    _pair(_PURGATORY, ReleaseCancelled.AT_ONCE, ReleaseCancelled.WHEN_DUE, rule=""),
    _pair(_PURGATORY, Executor.STEPPED, Executor.INLINE),
    _pair(_PURGATORY, Executor.INLINE, Executor.STEPPED),
    _pair(_PURGATORY, Rounding.DOWN, Rounding.UP),
    _pair(_PURGATORY, Rounding.UP, Rounding.DOWN),
    _pair(_PURGATORY, Rounding.EXACT, Rounding.DOWN),
    _pair(_PURGATORY, SameTickOrder.NONE, SameTickOrder.FIFO, BackwardsPurgatory),
    _pair(_PURGATORY, SameTickOrder.FIFO, SameTickOrder.NONE, rule=""),
    _pair(_PURGATORY, Structure.ANY, _WHEEL),
    _pair(_PURGATORY, _WHEEL, Structure.ANY, WheelPurgatory, rule=""),
)

_POOL = memory_pool.PROFILE
_CAREFUL = _change(
    memory_pool.NAIVE_PROFILE,
    features=_POOL.features
    - {
        MemoryPoolFeature.RELEASE_AGAIN,
        MemoryPoolFeature.RELEASE_SLICE,
        MemoryPoolFeature.RELEASE_COPY,
        MemoryPoolFeature.RELEASE_FOREIGN,
    },
)
"""A pool that credits every buffer, for callers that release its own alone, once each."""


def _careless(feature: MemoryPoolFeature, suffix: str = "") -> ProfileSubject:
    """Return the careful pool, whose sibling claims to know its own and is given something else."""
    return _pair(
        _CAREFUL,
        ReleaseValidation.NONE,
        ReleaseValidation.IDENTITY,
        suffix=suffix,
        features=_CAREFUL.features | {feature},
    )


_POOLS = (
    _careless(MemoryPoolFeature.RELEASE_FOREIGN),
    _careless(MemoryPoolFeature.RELEASE_AGAIN, "-again"),
    _pair(_POOL, ReleaseValidation.IDENTITY, ReleaseValidation.NONE),
    _pair(_POOL, ZeroRequest.REJECT, ZeroRequest.REFUSE),
    _pair(_POOL, ZeroRequest.REFUSE, ZeroRequest.GRANT),
    _pair(_POOL, ZeroRequest.GRANT, ZeroRequest.REJECT),
    _pair(_POOL, ZeroRequest.NOT_OFFERED, ZeroRequest.GRANT),
)

_SERVER = channel_muting.PROFILE
_EVERYONE = channel_muting.EVERYONE_PROFILE


def _with_habits(habits: Habits) -> Callable[..., object]:
    return lambda configuration, profile, _: SmallServer(configuration, profile, habits)


_DESCENDING = _with_habits(Habits(descending=True))
_IN_POLLS = _with_habits(Habits(descending=True, grants_in_polls=True))

_SERVERS = (
    _pair(_SERVER, Recovery.EVERYONE, Recovery.FIRST_COME),
    _pair(_SERVER, Recovery.EVERYONE, Recovery.FIRST_COME, _DESCENDING, suffix="-descending"),
    _pair(_SERVER, Recovery.FIRST_COME, Recovery.EVERYONE, rule="MUTING-RECOVER"),
    _pair(
        _SERVER,
        Recovery.FIRST_COME,
        Recovery.EVERYONE,
        _IN_POLLS,
        rule="MUTING-OTHERS-GO-ON",
        suffix="-in-polls",
    ),
    _pair(_EVERYONE, AskAgain.AT_RECOVERY, AskAgain.WITH_BYTES, also=("MUTING-ASK",)),
    _pair(_EVERYONE, AskAgain.WITH_BYTES, AskAgain.AT_RECOVERY, also=("MUTING-WAIT",)),
    _pair(_SERVER, EndWhileWaiting.AFTER_RECOVERY, EndWhileWaiting.AT_ONCE),
    _pair(_SERVER, EndWhileWaiting.AT_ONCE, EndWhileWaiting.AFTER_RECOVERY, rule=""),
)


def profile_subjects() -> tuple[ProfileSubject, ...]:
    """Return one subject for each value of each choice, component after component."""
    return _TIMERS + _PURGATORIES + _POOLS + _SERVERS
