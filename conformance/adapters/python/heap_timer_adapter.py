# SPDX-License-Identifier: CC0-1.0
"""A timer on a heap behind the adapter protocol: copy this file and put your timer in its place."""

import heapq
import json
import sys
from collections.abc import Callable
from typing import Any

LARGEST_DELAY_MS = 2**31 - 1  # what a profile that says nothing of it promises to accept
PROFILE = {  # what is not declared here is neither asked for nor compared
    "features": ["cancel", "readd", "change_delay", "elapse"],
    "observables": ["size", "advance_result"],
}
HELLO = {
    "protocol": 1,
    "implementation": {"name": "heap timer", "version": "1", "language": "Python"},
    "components": {"timer": PROFILE},
}


class HeapTimer:
    """The implementation under test: it knows nothing of the protocol."""

    def __init__(self, tick_ms: int, start_ms: int) -> None:
        self.tick_ms = tick_ms
        self.now_ms = start_ms  # a virtual clock: only the runner moves it
        self.heap: list[tuple[int, int, str]] = []  # due tick, number of the arming, task
        self.pending: dict[str, int] = {}  # its arming; what else the heap holds is stale
        self.armings = 0

    def add(self, task: str, delay_ms: int) -> None:
        if delay_ms > LARGEST_DELAY_MS:
            raise OverflowError(f"a delay is at most {LARGEST_DELAY_MS} ms")
        self.armings += 1
        self.pending[task] = self.armings  # an earlier arming of the task becomes stale
        expiry_ms = self.now_ms + delay_ms
        due_tick = expiry_ms - expiry_ms % self.tick_ms  # rounding "down", the default
        heapq.heappush(self.heap, (due_tick, self.armings, task))

    def advance(self, run: Callable[[str], None]) -> bool:
        ran_any = False
        while self.heap and self.heap[0][0] <= self.now_ms:
            _, arming, task = heapq.heappop(self.heap)
            if self.pending.get(task) == arming:
                del self.pending[task]
                run(task)  # at once, in this thread: the executor "inline", the default
                ran_any = True
        return ran_any


def carry_out(timer: HeapTimer, operation: dict[str, Any]) -> dict[str, Any]:
    """Carry out an operation; the outcome with the events and the observables afterwards."""
    outcome: dict[str, Any] = {}
    kind = operation["op"]
    if kind == "add":
        try:
            timer.add(operation["task"], operation["delay_ms"])
        except OverflowError as error:  # the timer refused: no failure of the adapter
            outcome |= {"rejected": "too_large", "detail": str(error)}
    elif kind == "cancel":
        timer.pending.pop(operation["task"], None)  # an unknown task is no error
    elif kind in ("elapse", "advance"):
        timer.now_ms = operation["to_ms"]
        if kind == "advance":
            events: list[dict[str, str]] = []
            result = timer.advance(lambda task: events.append({"kind": "ran", "task": task}))
            outcome |= {"result": result, "events": events}
    else:
        return {"unsupported": f"there is no operation {kind!r} here"}
    return outcome | {"observed": {"size": len(timer.pending)}}


def main() -> None:
    replies, sys.stdout = sys.stdout.buffer, sys.stderr  # a stray print is no reply
    for line in filter(bytes.strip, sys.stdin.buffer):  # until "stop" or the end of input
        reply: dict[str, Any] = {"id": 0}  # stays 0 where the request cannot be read
        try:
            request = json.loads(line)
            kind, reply["id"] = request["request"], request["id"]
            if kind == "stop":
                return
            if kind == "hello":
                reply |= HELLO
            elif kind == "new":  # it also replaces an instance that was never ended
                asked = request["configuration"]
                timer = HeapTimer(asked.get("tick_ms", 1), asked.get("start_ms", 0))
            elif kind == "do":
                reply |= carry_out(timer, request["operation"])
            elif kind != "end":  # nothing is left to release here
                reply["unsupported"] = f"there is no request {kind!r} here"
        except Exception as error:  # the adapter itself failed; the runner will say so
            reply["error"] = f"{type(error).__name__}: {error}"
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()  # or the runner waits for a reply that lies in a buffer


if __name__ == "__main__":
    main()
