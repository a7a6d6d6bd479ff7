# SPDX-License-Identifier: CC0-1.0
"""A purgatory and a memory pool behind the adapter protocol: copy this folder, put in yours."""

import json
import sys

from cases import Json, PoolCase, PurgatoryCase, carry_out

STEPPED = "--stepped" in sys.argv  # expired operations wait until the runner has them run

PURGATORY = {  # what is not declared here is neither asked for nor compared
    "accounting": "exact",
    "check_drops": "as_passed",
    "throwing_try": "go_on",
    "executor": "stepped" if STEPPED else "inline",
    "features": [
        "force",
        "cancel_for_key",
        "rewatch",
        "duplicate_keys",
        "elapse",
        "shutdown",
        "no_time_outs",
        "script_throw",
        "script_watch",
        "script_check",
        "script_cancel_for_key",
        "script_force",
        "script_try",
    ],
    "observables": [
        "entries",
        "keys",
        "stale_entries",
        "stale_operations",
        "timer_size",
        "queued",
        "pending",
        "estimate",
        "callback_timer_size",
    ],
}
MEMORY_POOL = {
    "release_validation": "identity",
    "features": [
        "strict",
        "non_strict",
        "unbounded",
        "construct",
        "release_again",
        "release_slice",
        "release_copy",
        "release_foreign",
        "release_nothing",
        "elapse",
    ],
    "observables": [
        "available_bytes",
        "used_bytes",
        "size_bytes",
        "out_of_memory",
        "buffer_bytes",
        "depleted_spells",
        "depleted_ms",
    ],
}
HELLO: Json = {
    "protocol": 1,
    "implementation": {"name": "naive purgatory", "version": "1", "language": "Python"},
    "components": {"purgatory": PURGATORY, "memory_pool": MEMORY_POOL},
}


def new_case(request: Json) -> PurgatoryCase | PoolCase:
    if request["component"] == "purgatory":
        return PurgatoryCase(request["configuration"], stepped=STEPPED)
    return PoolCase(request["configuration"])


def main() -> None:
    replies, sys.stdout = sys.stdout.buffer, sys.stderr  # a stray print is no reply
    case: PurgatoryCase | PoolCase | None = None
    for line in filter(bytes.strip, sys.stdin.buffer):  # until "stop" or the end of input
        reply: Json = {"id": 0}  # stays 0 where the request cannot be read
        try:
            request = json.loads(line)
            kind, reply["id"] = request["request"], request["id"]
            if kind == "stop":
                return
            if kind == "hello":
                reply |= HELLO
            elif kind == "new":
                case = new_case(request)  # also replaces one that was never ended
            elif kind == "do" and case is not None:
                reply |= carry_out(case, request["operation"])
            elif kind != "end":
                reply["unsupported"] = f"there is no request {kind!r} here"
        except Exception as error:  # the adapter itself failed; the runner will say so
            reply["error"] = f"{type(error).__name__}: {error}"
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()  # or the runner waits for a reply that lies in a buffer


if __name__ == "__main__":
    main()
