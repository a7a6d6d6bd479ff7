# SPDX-License-Identifier: CC0-1.0
"""The purgatory behind the protocol: each step a call. Change names until it calls yours."""

import sys
from collections.abc import Callable
from contextlib import suppress

from case import Case, Json, Unsupported
from naive_purgatory import Closed, DelayedOperation, Purgatory, Refused, Timer
from other_thread import OtherThread
from script import OperationScript, ScriptError, SevereScriptError

STEPPED = "--stepped" in sys.argv  # expired operations wait until the runner has them run


class ScriptedOperation(DelayedOperation):
    """An operation that follows a script."""

    def __init__(self, case: "PurgatoryCase", script: OperationScript, delay_ms: int) -> None:
        super().__init__(delay_ms)
        self.case, self.script = case, script

    def try_complete(self) -> bool:
        return self.script.tried(self.force_complete)

    def on_complete(self) -> None:
        self.case.callback_timer_size = len(self.case.timer.armed)
        self.script.completed()

    def on_expiration(self) -> None:
        self.script.timed_out()


class PurgatoryCase(Case):
    """A purgatory whose clock the runner moves, and the operations that it was told of."""

    PROFILE = {
        "accounting": "exact",
        "check_drops": "as_passed",
        "throwing_try": "go_on",
        "severe_throw": "as_ordinary",
        "executor": "stepped" if STEPPED else "inline",
        "release_cancelled": "at_once",
        "features": [
            *("force", "cancel_for_key", "rewatch", "duplicate_keys", "elapse", "shutdown"),
            *("no_time_outs", "script_throw", "script_throw_severe", "script_watch"),
            *("script_check", "script_cancel_for_key", "script_force", "script_try"),
            *("script_meanwhile", "script_crosswise", "reachable"),
            *(["refuse"] if STEPPED else []),
        ],
        "observables": [
            *("entries", "keys", "stale_entries", "stale_operations", "timer_size", "queued"),
            *("pending", "estimate", "callback_timer_size"),
        ],
    }
    REASONS = {
        ScriptError: "thrown",
        SevereScriptError: "thrown",
        ValueError: "invalid_argument",
        Closed: "closed",
        Refused: "refused",
    }

    def __init__(self, configuration: Json) -> None:
        super().__init__(configuration)
        self.timer = Timer(configuration.get("tick_ms", 1), configuration.get("start_ms", 0))
        self.purgatory = Purgatory(
            self.timer,
            configuration.get("purge_interval", 1000),
            configuration.get("time_outs", True),
        )
        self.operations: dict[str, ScriptedOperation] = {}
        self.other_thread = OtherThread()
        self.callback_timer_size: int | None = None  # as the last on_complete of a step began

    def named(self, asked: Json) -> ScriptedOperation:
        """Return the operation of a name; the step that introduces the name gives the script."""
        name = asked["operation"]
        script = OperationScript(self, name, asked)
        operation = ScriptedOperation(self, script, asked.get("delay_ms", 0))
        return self.operations.setdefault(name, operation)

    def meanwhile(self, call: Callable[[], None]) -> None:
        self.other_thread.call(call)

    def settle(self) -> None:
        self.other_thread.end_step()

    def call(self, kind: str, asked: Json) -> object:
        """Call what a step or an action of a callback asks for."""
        match kind:
            case "watch":
                return self.purgatory.try_complete_else_watch(self.named(asked), asked["keys"])
            case "check":
                return self.purgatory.check_and_complete(asked["key"])
            case "cancel_for_key":
                return list(map(name_of, self.purgatory.cancel_for_key(asked["key"])))
            case "force":
                return self.named(asked).force_complete()
            case "satisfy":
                self.named(asked).script.satisfied = True
            case "elapse":
                self.timer.now_ms = asked["to_ms"]
            case "advance":
                self.timer.now_ms = asked["to_ms"]
                self.purgatory.refuses = asked.get("refuse", False)
                self.advance()
            case "run_one":
                self.run_one()
            case "reachable":
                return self.is_reachable(self.operations, asked["task"])
            case "shutdown":
                self.purgatory.shut_down()
            case _:
                raise Unsupported
        return None

    def advance(self) -> None:
        for operation in self.purgatory.advance():
            if STEPPED:
                self.note("expired", name_of(operation))
        while self.purgatory.queue and not STEPPED:
            self.run_one()
        self.purgatory.purge_if_due()

    def run_one(self) -> None:
        with suppress(ScriptError, SevereScriptError):  # what it throws reaches nobody
            self.purgatory.run_one()

    def observed(self) -> Json:
        purgatory = self.purgatory
        found, self.callback_timer_size = self.callback_timer_size, None
        return {
            "entries": purgatory.entries(),
            "keys": len(purgatory.lists),
            "stale_entries": purgatory.stale_entries(),
            "stale_operations": len(set(purgatory.stale())),
            "timer_size": len(self.timer.armed),
            "queued": len(purgatory.queue),
            "pending": purgatory.pending(),
            "estimate": purgatory.pending() + purgatory.stale_entries(),
            "callback_timer_size": found,
        }


def name_of(operation: DelayedOperation) -> str:
    assert isinstance(operation, ScriptedOperation)
    return operation.script.name
