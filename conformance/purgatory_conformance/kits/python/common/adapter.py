# SPDX-License-Identifier: CC0-1.0
"""Answers the runner: reads a request, has it carried out, writes the reply."""

import json
import sys

from case import Case, Json
from memory_pool_case import MemoryPoolCase  # only: memory_pool
from purgatory_case import PurgatoryCase  # only: purgatory
from timer_case import TimerCase  # only: timer

COMPONENTS: dict[str, type[Case]] = {
    "timer": TimerCase,  # only: timer
    "purgatory": PurgatoryCase,  # only: purgatory
    "memory_pool": MemoryPoolCase,  # only: memory_pool
}
HELLO: Json = {
    "protocol": 1,
    "implementation": {"name": "naive implementation", "version": "1", "language": "Python"},
    "components": {name: case.PROFILE for name, case in COMPONENTS.items()},
}


def main() -> None:
    replies, sys.stdout = sys.stdout.buffer, sys.stderr  # a stray print is no reply
    case: Case | None = None
    for line in filter(bytes.strip, sys.stdin.buffer):  # until "stop" or the end of input
        reply: Json = {"id": 0}  # stays 0 where the request cannot be read
        try:
            request = json.loads(line)
            kind, reply["id"] = request["request"], int(request["id"])
            if kind == "stop":
                return
            if kind == "hello":
                reply |= HELLO
            elif kind in ("new", "end"):  # "new" also replaces an instance that was never ended
                if case is not None:
                    case.end()
                case = None
                if kind == "new":
                    case = COMPONENTS[request["component"]](request["configuration"])
            elif kind == "do" and case is not None:
                reply |= case.carry_out(request["operation"])
            else:
                reply["unsupported"] = f"there is no request {kind!r} here"
        except Exception as error:  # the adapter itself failed; the runner will say so
            reply["error"] = f"{type(error).__name__}: {error}"
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()  # or the runner waits for a reply that lies in a buffer


if __name__ == "__main__":
    main()
