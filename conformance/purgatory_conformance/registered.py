"""The subjects that have a name of their own."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Registered:
    """A subject that comes with the suite."""

    name: str
    summary: str


PROJECTS = {
    "sched": ("python-standard-library/sched.toml", "Python's sched.scheduler"),
    "asyncio": ("python-standard-library/asyncio.toml", "Python's asyncio, loop.call_later"),
    "go-time": ("go/time.toml", "Go's time.AfterFunc, in a bubble of testing/synctest (needs Go)"),
    "go-timingwheel": ("go/timingwheel.toml", "the same bubble, RussellLuo/timingwheel (needs Go)"),
    "java-executor": (
        "jvm/java-executor.toml",
        "the JDK's ScheduledThreadPoolExecutor, real clock (needs Java 17 and Maven)",
    ),
    "netty": ("jvm/netty.toml", "Netty's HashedWheelTimer, real clock (needs Java 17 and Maven)"),
    "netty-size": ("jvm/netty-size.toml", "the same, its pending timeouts taken for its size"),
    "agrona": ("jvm/agrona.toml", "Agrona's DeadlineTimerWheel (needs Java 17 and Maven)"),
    "rust-hash-wheel": (
        "rust/hash-wheel.toml",
        "Rust's hierarchical_hash_wheel_timer (needs cargo)",
    ),
    "rust-delay-queue": (
        "rust/delay-queue.toml",
        "tokio-util's DelayQueue, on tokio's paused clock (needs cargo)",
    ),
}
"""Other people's timers: for each word the declaration among the adapters, and a summary."""

REGISTERED: tuple[Registered, ...] = (
    Registered(
        "bundled", "our own timer, purgatory, memory pool and network, virtual clock, in process"
    ),
    Registered(
        "bundled-proposal",
        "our own purgatory with the accounting as published: breaks PURGATORY-STALE-OPERATIONS",
    ),
    Registered(
        "bundled-fixed-interval", "our own purgatory with its purges as published, at the interval"
    ),
    Registered("bundled-inline", "our own timer and purgatory with an executor that runs at once"),
    Registered("bundled-real-clock", "our own timer with its reaper thread and the real clock"),
    Registered(
        "heap-timer", "a naive timer on a heap, as a child process, by purgatory init --lang python"
    ),
    Registered(
        "naive-purgatory",
        "a naive purgatory and memory pool, as a child process, by purgatory init --lang python",
    ),
    Registered("naive-server", "a naive server that only has ports: the adapter template"),
    Registered("javascript-wheel", "the timer of the course's page to play on (needs Node)"),
    *(Registered(word, summary) for word, (_, summary) in PROJECTS.items()),
    Registered("kafka", "Apache Kafka's classes, virtual clock (needs Java 17 and Maven)"),
    Registered("kafka-leak-tracking", "Apache Kafka's pool that detects leaks"),
    Registered("kafka-real-clock", "Apache Kafka's SystemTimer with its real clock and threads"),
    Registered("kafka-mock-timer", "Apache Kafka's MockTimer, the test double"),
    Registered("kafka-shared-lock", "Apache Kafka's purgatory, operations with one lock (2.4-3.9)"),
)
"""The subjects that have a name of their own; mutants and profile subjects come on top."""
