"""An adapter that offers all components and shows one thing wrongly, as its argument says.

Without an argument it is right. It answers what is asked by its own small pretence of the
components, so that it depends on nothing of ours.
"""

import json
import sys
from typing import Any

Json = dict[str, Any]


class Pretence:
    """The state of the present instance: what is watched, what is left."""

    def __init__(self, component: str, configuration: Json) -> None:
        self.component = component
        self.now = configuration.get("start_ms", 0)
        self.due: dict[str, int] = {}
        self.tries: dict[str, list[str]] = {}
        self.left = configuration.get("size_bytes", 100)
        self.held: dict[str, int] = {}

    def do(self, operation: Json) -> Json:
        name = operation["op"]
        method = getattr(self, f"{self.component}_{name}", None)
        if method is None:
            return {"unsupported": f"no operation {name}"}
        reply: Json = method(operation)
        if self.component == "purgatory":
            reply["observed"] = {"entries": len(self.due)}
        if self.component == "memory_pool":
            reply["observed"] = {"available_bytes": self.left}
        return reply

    def timer_add(self, operation: Json) -> Json:
        self.due[operation["task"]] = self.now + operation["delay_ms"]
        return {}

    def timer_advance(self, operation: Json) -> Json:
        self.now = operation["to_ms"]
        return {"events": [{"kind": "ran", "task": task} for task in self._expired()]}

    def _expired(self) -> list[str]:
        expired = sorted(task for task, due in self.due.items() if due <= self.now)
        for task in expired:
            del self.due[task]
        return expired

    def purgatory_watch(self, operation: Json) -> Json:
        name = operation["operation"]
        self.due[name] = self.now + operation["delay_ms"]
        self.tries[name] = ["wait", *operation.get("script", {}).get("tries", [])][2:]
        return {"result": False, "events": [{"kind": "tried", "task": name}] * 2}

    def purgatory_check(self, operation: Json) -> Json:
        events: list[Json] = []
        for name in [each for each, tries in self.tries.items() if tries[-1:] == ["complete"]]:
            del self.due[name], self.tries[name]
            events += [{"kind": "tried", "task": name}, {"kind": "completed", "task": name}]
        return {"result": len(events) // 2, "events": events}

    def purgatory_advance(self, operation: Json) -> Json:
        self.now = operation["to_ms"]
        kinds = ("completed", "timed_out")
        return {
            "events": [{"kind": kind, "task": task} for task in self._expired() for kind in kinds]
        }

    def memory_pool_allocate(self, operation: Json) -> Json:
        granted = self.left > 0
        if granted:
            self.left -= operation["size_bytes"]
            self.held[operation["buffer"]] = operation["size_bytes"]
        return {"result": granted}

    def memory_pool_release(self, operation: Json) -> Json:
        self.left += self.held.pop(operation["buffer"])
        return {}


def hello() -> Json:
    return {
        "protocol": 1,
        "implementation": {"name": "three components"},
        "components": {
            "timer": {},
            "purgatory": {"observables": ["entries"]},
            "memory_pool": {"features": ["non_strict"], "observables": ["available_bytes"]},
        },
    }


def spoiled(fault: str, operation: Json, reply: Json) -> Json:
    """The reply with the fault that was asked for."""
    if fault == "check-without-result" and operation["op"] == "check":
        reply.pop("result")
    if fault == "entries-negative" and operation["op"] == "watch":
        reply["observed"]["entries"] = -1
    if fault == "allocate-counts" and operation["op"] == "allocate":
        reply["result"] = 7
    if fault == "available-missing" and operation["op"] == "release":
        reply["observed"] = {}
    if fault == "never-times-out" and "timed_out" in str(reply):
        reply["events"] = []
    if fault == "purgatory-runs" and "timed_out" in str(reply):
        reply["events"] = [{"kind": "ran", "task": "b"}]
    return reply


def main() -> None:
    fault = sys.argv[1] if len(sys.argv) > 1 else ""
    pretence: Pretence | None = None
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            request = json.loads(line)
        except ValueError:
            print(json.dumps({"id": 0, "error": "no JSON"}), flush=True)
            continue
        reply: Json = {}
        match request["request"]:
            case "hello":
                reply = hello()
            case "new":
                pretence = Pretence(request["component"], request["configuration"])
            case "do" if pretence is not None:
                reply = spoiled(fault, request["operation"], pretence.do(request["operation"]))
            case "end":
                pretence = None
            case "stop":
                return
            case _:
                reply = {"unsupported": "no such request"}
        print(json.dumps({"id": request["id"], **reply}), flush=True)


if __name__ == "__main__":
    main()
