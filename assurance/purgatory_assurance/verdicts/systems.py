"""The systems that are judged, by the words of the command line, in the order of the table."""

from collections.abc import Mapping

SYSTEMS: Mapping[str, str] = {
    "sched": "Python `sched.scheduler`",
    "asyncio": "Python asyncio `call_later`",
    "go-time": "Go `time.AfterFunc`",
    "go-timingwheel": "Go `RussellLuo/timingwheel`",
    "java-executor": "JDK `ScheduledThreadPoolExecutor`, real clock",
    "netty": "Netty `HashedWheelTimer`, real clock",
    "netty-size": "Netty `HashedWheelTimer`, `pendingTimeouts()` as size",
    "agrona": "Agrona `DeadlineTimerWheel`",
    "rust-hash-wheel": "Rust `hierarchical_hash_wheel_timer`",
    "rust-delay-queue": "tokio-util `DelayQueue`",
}
"""For each word of ``purgatory check`` the system's name."""

SEED = 1


def check_words(word: str) -> tuple[str, ...]:
    """The words of the command that judges a system."""
    return ("purgatory", "check", word, "--seed", str(SEED))
