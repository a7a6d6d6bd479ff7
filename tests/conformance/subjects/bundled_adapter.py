"""The bundled components as an adapter, with all that can be declared."""

# Its argument names an operation that it declares but answers with ``unsupported``, or one of the
# wrong answers in ``SPOILED``, or one of the modes ``only_unbounded`` and ``only_strict``: the
# memory pool alone, with no other sort of pool. ``ignores-`` and an action: no script contains that
# action.

import sys
from collections.abc import Callable
from typing import Any

import msgspec

from purgatory_conformance.subjects.bundled import bundled_subject
from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_judge.components import narrowed
from purgatory_spec.messages import Components, Reply
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Event, EventKind, Outcome, ran
from purgatory_spec.profiles import (
    Component,
    Configuration,
    MemoryPoolConfiguration,
    MemoryPoolFeature,
    MemoryPoolProfile,
    PurgatoryConfiguration,
    PurgatoryProfile,
    TimerConfiguration,
    TimerProfile,
)

change = msgspec.structs.replace


def with_other_events(outcome: Outcome, *events: Event) -> Outcome:
    """The outcome with these events, where an operation has timed out."""
    if any(event.kind is EventKind.TIMED_OUT for event in outcome.events):
        return change(outcome, events=events)
    return outcome


def with_expiry(outcome: Outcome, name: str) -> Outcome:
    """The outcome with the expiry of an operation, where that was tried."""
    if any(event.task == name for event in outcome.events):
        return change(outcome, events=(*outcome.events, Event(EventKind.EXPIRED, name)))
    return outcome


def without_action(script: Any, word: str) -> Any:
    """A script that lacks an action; a try that would throw waits."""
    if isinstance(script, dict):
        return {name: without_action(value, word) for name, value in script.items()}
    return ["wait" if each == word else each for each in script if {"do": word} != pick(each)]


def pick(action: Any) -> Any:
    """Return an action without its fields; a try as it is."""
    return {"do": action["do"]} if isinstance(action, dict) else action


SPOILED: dict[str, tuple[str, Callable[[Outcome], Outcome]]] = {
    "check-without-result": ("check", lambda right: change(right, result=None)),
    "entries-negative": (
        "watch",
        lambda right: change(right, observed={**right.observed, "entries": -1}),
    ),
    "allocate-counts": ("allocate", lambda right: change(right, result=7)),
    "available-missing": ("release", lambda right: change(right, observed={})),
    "allocate-grants": ("allocate", lambda right: change(right, result=True, rejected=None)),
    "advance-without-result": ("advance", lambda right: change(right, result=None)),
    "watch-expires-at-once": ("watch", lambda right: with_expiry(right, "idle")),
    "watch-tries-once": (
        "watch",
        lambda right: change(right, events=tuple(dict.fromkeys(right.events))),
    ),
    "never-times-out": ("run_one", with_other_events),
    "purgatory-runs": ("run_one", lambda right: with_other_events(right, ran("b"))),
}
"""Wrong answers: to which operation, and what becomes of its outcome."""

CONFIGURATIONS: dict[str, type[Configuration]] = {
    "timer": TimerConfiguration,
    "purgatory": PurgatoryConfiguration,
    "memory_pool": MemoryPoolConfiguration,
}
ONLY = {"only_unbounded": MemoryPoolFeature.UNBOUNDED, "only_strict": MemoryPoolFeature.STRICT}


def components(mode: str) -> Components:
    profiles = bundled_subject().profiles
    pool = narrowed(profiles[Component.MEMORY_POOL], MemoryPoolProfile)
    if mode not in ONLY:
        return Components(
            narrowed(profiles[Component.TIMER], TimerProfile),
            narrowed(profiles[Component.PURGATORY], PurgatoryProfile),
            pool,
        )
    features = pool.features - {MemoryPoolFeature.NON_STRICT, *ONLY.values()} | {ONLY[mode]}
    return Components(memory_pool=msgspec.structs.replace(pool, features=features))


def answered(line: bytes, subject: InProcessSubject, mode: str) -> Reply | None:
    """The reply to a request; None where it has none."""
    try:
        plain = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return Reply(0, error="this is no request")
    identity = plain["id"]
    match plain["request"]:
        case "hello":
            return Reply(identity, 1, subject.implementation, components(mode))
        case "new":
            configuration = msgspec.convert(
                plain["configuration"], CONFIGURATIONS[plain["component"]]
            )
            subject.new("case", configuration)
            return Reply(identity)
        case "do":
            if plain["operation"]["op"] in (mode, "wobble"):
                return Reply(identity, unsupported="no such operation")
            asked = plain["operation"]
            if mode.startswith("ignores-") and "script" in asked:
                asked["script"] = without_action(asked["script"], mode.removeprefix("ignores-"))
            operation = msgspec.convert(asked, Operation, strict=False)
            (outcome,) = subject.do_all([operation])
            if mode in SPOILED and SPOILED[mode][0] == plain["operation"]["op"]:
                outcome = SPOILED[mode][1](outcome)
            return Reply(
                identity,
                result=outcome.result,
                rejected=outcome.rejected,
                events=outcome.events,
                observed=outcome.observed,
            )
        case "end":
            subject.end()
            return Reply(identity)
        case "stop":
            return None
        case _:
            return Reply(identity, unsupported="no such request")


def main() -> None:
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    subject = bundled_subject()
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        reply = answered(line, subject, mode)
        if reply is None:
            return
        sys.stdout.buffer.write(msgspec.json.encode(reply) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
