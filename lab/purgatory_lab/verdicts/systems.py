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
    "kafka": "Apache Kafka",
    "kafka@4.0.0": "Apache Kafka",
    "kafka@3.9.1": "Apache Kafka",
    "kafka@2.8.2": "Apache Kafka",
    "kafka@2.6.3": "Apache Kafka",
    "kafka@2.4.1": "Apache Kafka",
    "kafka-leak-tracking": "Apache Kafka `GarbageCollectedMemoryPool`",
    "kafka-real-clock": "Apache Kafka `SystemTimer`, real clock",
    "kafka-mock-timer": "Apache Kafka `MockTimer`, the test double",
}
"""For each word of ``purgatory check`` the system's name."""

SEED = 1


def check_words(word: str) -> tuple[str, ...]:
    """The words of the command that judges a system."""
    return ("purgatory", "check", word, "--suite", "quick", "--seed", str(SEED))
