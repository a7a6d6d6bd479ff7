"""A peer that does what its first argument says; standard library alone, so that it starts soon."""

# scripted_peer.py SCRIPT [NS] [--alone]
#
# ``well`` answers each measure with NS nanoseconds for each operation; ``saturates`` achieves NS
# requests a second at most; the others are what can go wrong.

import json
import sys
import threading
import time

HELLO = {
    "peer": "scripted",
    "version": "1",
    "runtime": "script, interpreted",
    "measures": ["hot/virtual", "fifo/virtual", "workload"],
}


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def answer(request: dict[str, float], cost: float) -> dict[str, object]:
    operations = request["operations"]
    rate = request.get("rate", 0)
    return {
        "operations": operations,
        "thread_cpu_ns": cost * operations,
        "process_cpu_ns": 2 * cost * operations,
        "wall_ns": 3 * cost * operations,
        "detail": {
            "seed": request["seed"],
            "achieved": min(rate, cost),
            "lag_p99_ms": 1.5,
            "cpu_us": 2.0,
            "resident_mib": 20.0,
            "purge_interval": request.get("purge_interval"),
        },
    }


def main() -> None:
    words = [word for word in sys.argv[1:] if word != "--alone"]
    script, cost = words[0], float(words[1]) if len(words) > 1 else 100.0
    if script == "no hello":
        say("good morning")
    if script in ("eats", "modest"):  # memory counts where there are several threads
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    if script == "silent":
        time.sleep(60)
    say(json.dumps(HELLO))
    for line in sys.stdin:
        request = json.loads(line)
        if script == "modest":
            time.sleep(0.2)
        if script in ("well", "saturates", "modest"):
            say(json.dumps(answer(request, cost)))
        elif script == "error":
            say(json.dumps({"error": "it is raining"}))
        elif script == "error on fifo":
            bad = request["measure"].startswith("fifo")
            say(json.dumps({"error": "it is raining"} if bad else answer(request, cost)))
        elif script == "hangs":
            time.sleep(60)
        elif script == "hangs on hot":
            if request["measure"].startswith("hot"):
                time.sleep(60)
            say(json.dumps(answer(request, cost)))
        elif script == "dies":
            sys.stderr.write("out of luck\n")
            sys.exit(7)
        elif script == "garbage":
            say("{]")
        elif script == "no operations":
            say(json.dumps({"thread_cpu_ns": 5}))
        elif script == "eats":
            held = []
            time.sleep(2)  # to be looked at before it grows, by a busy machine as well
            for _ in range(40):
                held.append(bytearray(b"x") * (4 << 20))
                time.sleep(0.05)
            say(json.dumps(answer(request, cost)))


main()
