"""An adapter that keeps to the protocol but for one thing, which its argument names."""

# It notes its process id, and that of a process it starts, in the file PURGATORY_TEST_PIDS. Most
# modes misbehave at ``advance``, the others at the request that they are named after.

import json
import os
import signal
import sys
import time
from typing import Any

MODE = sys.argv[1]
PROFILE: dict[str, Any] = {"features": ["cancel"], "observables": ["size"]}
INPUT = sys.stdin.buffer
OUTPUT = sys.stdout.buffer

pending: dict[str, int] = {}
now_ms = 0
has_instance = False


def main() -> None:
    note_pid(os.getpid())
    print(f"mode {MODE}", file=sys.stderr, flush=True)
    if MODE == "crash at start":
        raise SystemExit(3)
    if MODE == "ignores stop" and sys.platform != "win32":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if MODE == "grandchild":
        start_grandchild()
    for line in iter(INPUT.readline, b""):
        if line.strip():
            answer(line)
    if MODE == "ignores stop":
        time.sleep(60)


def answer(line: bytes) -> None:
    global has_instance
    try:
        request = json.loads(line)
        kind, identity = request["request"], request["id"]
    except (ValueError, TypeError, KeyError):
        write({"id": 0, "error": "this is no request"})
        return
    match kind:
        case "hello":
            write({"id": identity, **greet()})
        case "new":
            write({"id": identity, **new(request["configuration"])})
        case "do":
            operation = request["operation"]
            if MODE == "unknown ends" and not has_instance:
                write({"id": identity, "unsupported": "there is no instance"})
                return
            if operation["op"] == "advance":
                misbehave(identity)
            reply = carry_out(operation)
            if MODE == "own clock turns":
                reply["observed"] = {"size": len(pending), "wheel_clock_ms": now_ms}
            if reply.keys().isdisjoint({"unsupported", "error"}):
                reply.setdefault("observed", {"size": len(pending)})
            write({"id": identity, **reply})
            if operation["op"] == "advance":
                misbehave_afterwards(identity)
        case "end":
            write({"id": identity})
            if MODE == "unasked":
                write({"id": identity})
        case "stop":
            leave(identity)
        case _ if MODE == "unknown request":
            write({"id": identity, "error": "no such request"})
        case _:
            if MODE == "unknown ends":
                has_instance = False
            write({"id": identity, "unsupported": f"no request {kind}"})


def greet() -> dict[str, Any]:
    hello: dict[str, Any] = {
        "protocol": 1,
        "implementation": {"name": "misbehaving"},
        "components": {"timer": PROFILE, "from a later version": {"colour": "red"}},
    }
    match MODE:
        case "hang at hello":
            time.sleep(60)
        case "banner":
            write_line(b"Welcome to the adapter!")
        case "byte order mark":
            OUTPUT.write(b"\xef\xbb\xbf")
        case "version":
            hello["protocol"] = 2
            hello["components"] = "something else altogether"
        case "no component":
            hello["components"] = {"reaper": {}}
        case "no components":
            del hello["components"]
        case "no implementation":
            del hello["implementation"]
        case "error at hello":
            return {"error": "out of order today"}
        case "wrong profile":
            hello["components"] = {"timer": {"features": ["teleport"]}}
        case "expired":
            PROFILE["executor"] = "inline"
        case "int64":
            PROFILE["features"] = ["int64"]
        case "shutdown":
            PROFILE.update(features=["shutdown"], observables=["size", "queued"])
        case "real clock":
            PROFILE["clock"] = "wall"
        case "expires at once" | "own clock turns":
            shown = ["wheel_clock_ms"] if MODE == "own clock turns" else []
            PROFILE.update(structure="delay_queue_wheel", observables=["size", *shown])
        case "result":
            PROFILE["observables"] = ["advance_result"]
    return hello


def new(configuration: dict[str, int]) -> dict[str, Any]:
    global now_ms, has_instance
    has_instance = True
    match MODE:
        case "crash at new":
            raise SystemExit(4)
        case "unsupported at new" if configuration.get("wheel_size") == 7:
            return {"unsupported": "no wheels of seven"}
        case "error at new":
            return {"error": "no memory"}
        case "needs a tick":
            if "tick_ms" not in configuration:
                return {"error": "tick_ms is missing"}
        case "never reads":
            write({"id": 2})
            time.sleep(60)
    if MODE != "keeps the instance":
        pending.clear()
    now_ms = configuration.get("start_ms", 0)
    return {}


def carry_out(operation: dict[str, Any]) -> dict[str, Any]:
    global now_ms
    match operation["op"]:
        case "add":
            if MODE == "int64":
                return {"observed": {"size": operation["delay_ms"]}}
            pending[operation["task"]] = now_ms + operation["delay_ms"]
            if MODE == "expires at once" and operation["delay_ms"] == 0:
                return advance()
            if MODE == "unsupported":
                return {"unsupported": "no room"}
        case "cancel":
            pending.pop(operation["task"], None)
        case "advance":
            now_ms = int(operation["to_ms"])
            return advance()
        case "shutdown" if MODE == "shutdown":
            return {"observed": {"queued": 0}}
        case name:
            return {"unsupported": f"no operation {name}"}
    return {}


def advance() -> dict[str, Any]:
    ran = [task for task, due_ms in pending.items() if due_ms <= now_ms]
    for task in ran:
        del pending[task]
    kind = "expired" if MODE == "expired" else "ran"
    events = [] if MODE == "never runs" else [{"kind": kind, "task": task} for task in ran]
    match MODE:
        case "error":
            return {"error": "a failure of its own"}
        case "missing observable":
            return {"events": events, "observed": {}}
        case "undeclared observable":
            return {"events": events, "observed": {"size": len(pending), "mood": 7}}
        case "wrong types":
            return {"observed": {"size": "many"}}
        case "large replies":
            return {"events": events, "detail": "x" * 100_000}
        case "shutdown":
            return {"events": events, "observed": {"queued": 0, "size": len(pending)}}
        case "undeclared result":
            return {"events": events, "result": bool(ran)}
    return {"events": events}


def misbehave(identity: int) -> None:
    match MODE:
        case "crash":
            raise SystemExit(5)
        case "killed" if sys.platform != "win32":
            os.kill(os.getpid(), signal.SIGKILL)
        case "crash within a line":
            OUTPUT.write(b'{"id":')
            OUTPUT.flush()
            raise SystemExit(5)
        case "hang":
            time.sleep(60)
        case "endless line":
            while True:
                OUTPUT.write(b"x" * 65536)
        case "out of order":
            later = json.loads(INPUT.readline())
            write({"id": later["id"], "observed": {"size": 0}})
        case "wrong id":
            write({"id": 999})
        case "garbage":
            write_line(b"oops")
        case "not an object":
            write_line(b"[1]")
        case "not UTF-8":
            write_line(b'{"id":5,"detail":"\xff"}')
        case "key twice":
            write_line(b'{"id":5,"observed":{"size":1,"size":0}}')
        case "too deep":
            write_line(b'{"id":5,"more":' + b"[" * 100 + b"]" * 100 + b"}")
        case "bottomless":
            write_line(b"[" * 1_000_000)
        case "nothing":
            write_line(b"")
        case "closes output":
            os.close(1)
            time.sleep(60)
        case "closes output and exits later":
            os.close(1)
            time.sleep(1.5)
            os._exit(5)
        case "closes input":
            os.close(0)
            write({"id": identity, "observed": {"size": 0}})
            time.sleep(60)
        case "exit 0":
            raise SystemExit(0)
        case "much standard error":
            for number in range(50_000):
                print(f"complaint number {number}", file=sys.stderr)
            raise SystemExit(6)
        case "crash beside a grandchild":
            start_grandchild()
            raise SystemExit(7)


def misbehave_afterwards(identity: int) -> None:
    if MODE == "flood":
        while True:
            write({"id": identity, "observed": {"size": 0}})


def leave(identity: int) -> None:
    match MODE:
        case "ignores stop":
            return
        case "answers stop":
            write({"id": identity})
    raise SystemExit(9 if MODE == "leaves with a code" else 0)


def start_grandchild() -> None:
    """A process that holds the pipes and would outlive this one."""
    import subprocess  # seldom needed, and slow to load

    child = subprocess.Popen((sys.executable, "-S", "-c", "import time; time.sleep(60)"))
    child.returncode = 0  # nobody will wait for it
    note_pid(child.pid)


def note_pid(pid: int) -> None:
    path = os.environ.get("PURGATORY_TEST_PIDS")
    if path:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, b"%d\n" % pid)
        os.close(file)


def write(reply: dict[str, Any]) -> None:
    write_line(json.dumps(reply, separators=(",", ":")).encode())


def write_line(line: bytes) -> None:
    OUTPUT.write(line + (b"\r\n" if MODE == "CRLF" else b"\n"))
    OUTPUT.flush()


if __name__ == "__main__":
    main()
