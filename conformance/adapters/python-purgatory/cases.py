# SPDX-License-Identifier: CC0-1.0
"""One case of the suite: its steps become calls of the purgatory or the memory pool."""

from contextlib import suppress
from typing import Any

from naive import Buffer, Closed, DelayedOperation, MemoryPool, Purgatory, Timer, UnboundedPool

Json = dict[str, Any]


class ScriptError(Exception):
    """What a script throws."""


class UnknownNameError(Exception):
    """A buffer that was never granted."""


REASONS: dict[type[Exception], str] = {  # name your implementation's exceptions here
    ScriptError: "thrown",
    ValueError: "invalid_argument",
    Closed: "closed",
    UnknownNameError: "unknown_name",
}


class ScriptedOperation(DelayedOperation):
    """An operation that follows a script, and notes every call of its callbacks."""

    def __init__(self, case: "PurgatoryCase", name: str, delay_ms: int, script: Json) -> None:
        super().__init__(delay_ms)
        self.case, self.name, self.script = case, name, script
        self.tries: list[str] = list(script.get("tries", ()))
        self.on_try: list[list[Json]] = list(script.get("on_try", ()))
        self.satisfied = False

    def try_complete(self) -> bool:
        self.case.note("tried", self)
        answer = self.tries.pop(0) if len(self.tries) > 1 else (self.tries or ["wait"])[0]
        completes = self.satisfied or answer == "complete"  # settled before the actions
        if self.on_try:
            self.act(self.on_try.pop(0))
        if completes:
            return self.force_complete()
        if answer == "throw":
            raise ScriptError
        return False

    def on_complete(self) -> None:
        self.case.note("completed", self)
        self.case.callback_timer_size = len(self.case.timer.armed)
        self.act(self.script.get("on_complete", []))

    def on_expiration(self) -> None:
        self.case.note("timed_out", self)
        self.act(self.script.get("on_expiration", []))

    def act(self, actions: list[Json]) -> None:
        for action in actions:
            if action["do"] == "throw":
                raise ScriptError
            try:
                self.case.call(action["do"], action)
            except Exception as error:
                self.case.note("rejected", self, reason=REASONS.get(type(error), "internal"))


class PurgatoryCase:
    """One instance of the purgatory, and the operations that it was told of."""

    def __init__(self, configuration: Json, *, stepped: bool) -> None:
        self.stepped = stepped
        self.timer = Timer(configuration.get("tick_ms", 1), configuration.get("start_ms", 0))
        self.purgatory = Purgatory(
            self.timer,
            configuration.get("purge_interval", 1000),
            configuration.get("time_outs", True),
        )
        self.operations: dict[str, ScriptedOperation] = {}
        self.events: list[Json] = []
        self.callback_timer_size: int | None = None  # as the last on_complete of a step began

    def note(self, kind: str, operation: DelayedOperation, **more: str) -> None:
        assert isinstance(operation, ScriptedOperation)
        self.events.append({"kind": kind, "task": operation.name, **more})

    def named(self, asked: Json) -> ScriptedOperation:
        """The operation of a name; the step that introduces the name gives the script."""
        name = asked["operation"]
        if name not in self.operations:
            delay_ms, script = asked.get("delay_ms", 0), asked.get("script", {})
            self.operations[name] = ScriptedOperation(self, name, delay_ms, script)
        return self.operations[name]

    def call(self, kind: str, asked: Json) -> object:
        """What a step or an action of a callback asks for."""
        match kind:
            case "watch":
                return self.purgatory.try_complete_else_watch(self.named(asked), asked["keys"])
            case "check":
                return self.purgatory.check_and_complete(asked["key"])
            case "cancel_for_key":
                cancelled = self.purgatory.cancel_for_key(asked["key"])
                return [each.name for each in cancelled if isinstance(each, ScriptedOperation)]
            case "force":
                return self.named(asked).force_complete()
            case "satisfy":
                self.named(asked).satisfied = True
            case "elapse":
                self.timer.now_ms = asked["to_ms"]
            case "advance":
                self.timer.now_ms = asked["to_ms"]
                self.advance()
            case "run_one":
                self.run_one()
            case "shutdown":
                self.purgatory.shut_down()
            case _:
                raise NotImplementedError(f"there is no operation {kind!r} here")
        return None

    def advance(self) -> None:
        for operation in self.purgatory.advance():
            if self.stepped:
                self.note("expired", operation)
        while self.purgatory.queue and not self.stepped:
            self.run_one()
        self.purgatory.purge_if_due()

    def run_one(self) -> None:
        with suppress(ScriptError):  # what a callback throws in the executor reaches nobody
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


class PoolCase:
    """One instance of the memory pool, and the buffers that it granted."""

    def __init__(self, configuration: Json) -> None:
        self.pool: MemoryPool | UnboundedPool = UnboundedPool()
        if not configuration.get("unbounded"):
            self.pool = MemoryPool(
                configuration.get("size_bytes", 100),
                configuration.get("max_single_bytes", 40),
                configuration.get("strict", False),
            )
        self.buffers: dict[str, Buffer] = {}
        self.events: list[Json] = []
        self.buffer_bytes: int | None = None

    def call(self, kind: str, asked: Json) -> object:
        self.buffer_bytes = None
        match kind:
            case "allocate":
                buffer = self.pool.try_allocate(asked["size_bytes"])
                if buffer is not None:
                    self.buffers[asked["buffer"]] = buffer
                    self.buffer_bytes = len(buffer.memory)
                return buffer is not None
            case "release":
                if asked["buffer"] not in self.buffers:
                    raise UnknownNameError(asked["buffer"])
                buffer = self.buffers[asked["buffer"]]
                if asked.get("form", "itself") == "itself":
                    self.pool.release(buffer)
                else:  # another view of the memory, or other memory: another object for this pool
                    other = Buffer(len(buffer.memory))
                    if asked["form"] == "slice":
                        other.memory = buffer.memory[:]
                    self.pool.release(other)
            case "release_foreign":
                self.pool.release(Buffer(asked["size_bytes"]))
            case "release_nothing":
                self.pool.release(None)
            case "construct":
                MemoryPool(asked["size_bytes"], asked["max_single_bytes"], strict=False)
            case "elapse":
                self.pool.now_ms = asked["to_ms"]
            case _:
                raise NotImplementedError(f"there is no operation {kind!r} here")
        return None

    def observed(self) -> Json:
        pool = self.pool
        return {
            "available_bytes": pool.available_bytes,
            "used_bytes": pool.used_bytes,
            "size_bytes": pool.size_bytes,
            "out_of_memory": pool.out_of_memory,
            "buffer_bytes": self.buffer_bytes,
            "depleted_spells": pool.depleted_spells,
            "depleted_ms": pool.depleted_ms,
        }


def carry_out(case: PurgatoryCase | PoolCase, operation: Json) -> Json:
    """Carry out a step; the outcome with result or rejection, events and observables."""
    outcome: Json = {}
    case.events = []
    try:
        result = case.call(operation["op"], operation)
        if result is not None:
            outcome["result"] = result
    except NotImplementedError as error:
        return {"unsupported": str(error)}
    except Exception as error:
        outcome |= {"rejected": REASONS.get(type(error), "internal"), "detail": repr(error)}
    return outcome | {"events": case.events, "observed": case.observed()}
