# SPDX-License-Identifier: CC0-1.0
"""A case of the suite: an instance that is made, asked step by step, and dropped."""

import gc
from collections.abc import Callable
from typing import Any, ClassVar
from weakref import ref

Json = dict[str, Any]


class Unsupported(Exception):
    """This implementation has no such operation."""


class UnknownName(Exception):
    """A name that stands for nothing."""


class Case:
    """An instance of a component: a subclass makes it, calls it, and shows its counts."""

    PROFILE: ClassVar[Json]
    """The declared choices. What is not declared is neither asked for nor compared."""

    REASONS: ClassVar[dict[type[BaseException], str]]
    """Each exception by which the implementation refuses, as a word of the protocol."""

    def __init__(self, configuration: Json) -> None:
        self.events: list[Json] = []
        self.dropped: dict[str, ref[Any]] = {}

    def note(self, kind: str, task: str, **more: object) -> None:
        self.events.append({"kind": kind, "task": task, **more})

    def is_reachable(self, named: dict[str, Any], name: str) -> bool:
        """Drop the object of a name, for good; does anybody else still hold it?"""
        if name in named:
            self.dropped[name] = ref(named.pop(name))
        if name in self.dropped and self.dropped[name]() is not None:
            gc.collect()
        return name in self.dropped and self.dropped[name]() is not None

    def call(self, kind: str, asked: Json) -> object:
        """Call the implementation; the result, or None where there is none."""
        raise NotImplementedError

    def observed(self) -> Json:
        """Read the declared observables of the instance."""
        raise NotImplementedError

    def meanwhile(self, call: Callable[[], None]) -> None:
        """Have another thread make a call, while the callback that asks for it stands still."""
        raise Unsupported

    def settle(self) -> None:
        """Wait for what another thread still does in this step."""

    def now_ms(self) -> int | None:
        """Read a clock that moves by itself; None where the runner moves it."""
        return None

    def end(self) -> None:
        """Release what outlives the instance, such as a thread or a socket."""

    def reason(self, error: BaseException) -> str:
        """Return the protocol's word for a refusal; ``internal`` for an unplanned exception."""
        if isinstance(error, UnknownName):
            return "unknown_name"
        return self.REASONS.get(type(error), "internal")

    def carry_out(self, operation: Json) -> Json:
        """Carry out a step; the outcome with result or rejection, events and observables."""
        outcome: Json = {}
        called_ms = self.now_ms()
        try:
            result = self.call(operation["op"], operation)
            if result is not None:
                outcome["result"] = result
        except Unsupported:
            return {"unsupported": f"there is no operation {operation['op']!r} here"}
        except (Exception, *self.REASONS) as error:
            outcome |= {"rejected": self.reason(error), "detail": str(error) or repr(error)}
        self.settle()
        if called_ms is not None:
            outcome |= {"called_ms": called_ms, "returned_ms": self.now_ms()}
        events, self.events = self.events, []
        return outcome | {"events": events, "observed": self.observed()}
