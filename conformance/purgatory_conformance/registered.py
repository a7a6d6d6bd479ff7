"""The subjects that have a name of their own.

A subject that runs in this process is named by the function that makes it, ``module:function``, and
imported when it is opened: who judges another subject imports neither the implementation nor a
wrong subject.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Protocol

from purgatory_conformance.subjects.subject import Subject


@dataclass(frozen=True)
class Registered:
    """A subject that comes with the suite."""

    name: str
    summary: str
    maker: str = ""
    """The function that makes it, ``module:function``; empty for a program."""

    def make(self) -> Subject:
        """Import the function that makes the subject, and call it."""
        made: Subject = resolve_name(self.maker)()
        return made


class Specimen(Protocol):
    """A wrong subject, or one for a value of a profile."""

    @property
    def name(self) -> str:
        """The name behind the prefix of its family."""

    @property
    def make(self) -> Callable[[], Subject]:
        """The function that makes it."""


@dataclass(frozen=True)
class Family:
    """Subjects whose names begin with the same prefix."""

    noun: str
    members: str
    """The function that returns them, ``module:function``."""
    listed_by: str
    """The command that lists them."""

    def all(self) -> Sequence[Specimen]:
        """Import the members of the family and return them."""
        found: Sequence[Specimen] = resolve_name(self.members)()
        return found


FAMILIES = {
    "mutant": Family(
        "mutant", "purgatory_conformance.specimens.mutants:mutants", "purgatory list mutants"
    ),
    "profile": Family(
        "profile subject",
        "purgatory_conformance.specimens.profile_subjects:profile_subjects",
        "purgatory list subjects",
    ),
}
"""The families by their prefixes."""


PROJECTS = {
    "sched": ("python/sched.toml", "Python's sched.scheduler"),
    "asyncio": ("python/asyncio.toml", "Python's asyncio, loop.call_later"),
    "twisted-clock": ("python/twisted-clock.toml", "Twisted's task.Clock, its clock for tests"),
    "twisted-reactor": (
        "python/twisted-reactor.toml",
        "Twisted's reactor, callLater, virtual clock",
    ),
    "trio": ("python/trio.toml", "trio's deadlines, on its MockClock"),
    "eventlet": ("python/eventlet.toml", "timers of eventlet's hub, virtual clock"),
    "apscheduler": (
        "python/apscheduler.toml",
        "APScheduler's jobs with a date, in its pool of threads, virtual clock",
    ),
    "apscheduler-debug": ("python/apscheduler-debug.toml", "the same with its DebugExecutor"),
    "gevent": ("python/gevent.toml", "gevent.spawn_later, real clock"),
    "uvloop": ("python/uvloop.toml", "uvloop, loop.call_later, real clock"),
    "go-time": ("go/time.toml", "Go's time.AfterFunc, in a bubble of testing/synctest (needs Go)"),
    "go-timingwheel": ("go/timingwheel.toml", "the same bubble, RussellLuo/timingwheel (needs Go)"),
    "go-benbjohnson-clock": ("go/benbjohnson-clock.toml", "benbjohnson/clock's Mock (needs Go)"),
    "go-clockwork": ("go/clockwork.toml", "jonboulle/clockwork's FakeClock (needs Go)"),
    "go-robfig-cron": (
        "go/robfig-cron.toml",
        "robfig/cron with schedules of one time, in a bubble (needs Go)",
    ),
    "go-gocron": ("go/gocron.toml", "one-time jobs of go-co-op/gocron, in a bubble (needs Go)"),
    "java-executor": (
        "jvm/java-executor.toml",
        "the JDK's ScheduledThreadPoolExecutor, real clock (needs Java 17 and Maven)",
    ),
    "netty": ("jvm/netty.toml", "Netty's HashedWheelTimer, real clock (needs Java 17 and Maven)"),
    "netty-size": ("jvm/netty-size.toml", "the same, its pending timeouts taken for its size"),
    "dubbo": ("jvm/dubbo.toml", "Apache Dubbo's HashedWheelTimer, real clock (the same)"),
    "jraft": ("jvm/jraft.toml", "SOFAJRaft's HashedWheelTimer, real clock (the same)"),
    "agrona": ("jvm/agrona.toml", "Agrona's DeadlineTimerWheel (needs Java 17 and Maven)"),
    "jetty": ("jvm/jetty.toml", "Jetty's ScheduledExecutorScheduler, real clock (the same)"),
    "jetty-timer": ("jvm/jetty-timer.toml", "Jetty's TimerScheduler, real clock (the same)"),
    "vertx": ("jvm/vertx.toml", "timers of Vert.x, real clock (the same)"),
    "vertx-zero": ("jvm/vertx-zero.toml", "the same, asked for a delay of 0 ms as well"),
    "pekko": (
        "jvm/pekko.toml",
        "Apache Pekko's LightArrayRevolverScheduler, virtual clock (the same)",
    ),
    "producer-pool": ("jvm/producer-pool.toml", "the BufferPool of Kafka's producer (the same)"),
    "netty-pool": ("jvm/netty-pool.toml", "Netty's PooledByteBufAllocator (the same)"),
    "fluss": (
        "fluss/purgatory.toml",
        "Apache Fluss's timer and purgatory, virtual clock (needs Java 17 and Maven)",
    ),
    "npm-fake-timers": (
        "npm/fake-timers.toml",
        "npm's @sinonjs/fake-timers (needs Node and npm)",
    ),
    "npm-timer-wheel": ("npm/timer-wheel.toml", "npm's timer-wheel, virtual clock (the same)"),
    "npm-long-timeout": ("npm/long-timeout.toml", "npm's long-timeout, virtual clock (the same)"),
    "npm-safe-timers": ("npm/safe-timers.toml", "npm's safe-timers, virtual clock (the same)"),
    "npm-retimer": ("npm/retimer.toml", "npm's retimer, virtual clock (the same)"),
    "npm-long-settimeout": (
        "npm/long-settimeout.toml",
        "npm's long-settimeout, virtual clock (the same)",
    ),
    "npm-node-schedule": (
        "npm/node-schedule.toml",
        "jobs with a date of npm's node-schedule, virtual clock (the same)",
    ),
    "npm-cron": ("npm/cron.toml", "jobs with a date of npm's cron, virtual clock (the same)"),
    "npm-croner": ("npm/croner.toml", "jobs with a date of npm's croner, virtual clock (the same)"),
    "rust-hash-wheel": (
        "rust/hash-wheel.toml",
        "Rust's hierarchical_hash_wheel_timer (needs cargo)",
    ),
    "rust-delay-queue": (
        "rust/delay-queue.toml",
        "tokio-util's DelayQueue, on tokio's paused clock (needs cargo)",
    ),
    "rust-tokio-sleep": (
        "rust/tokio-sleep.toml",
        "tokio's sleep, on its paused clock (needs cargo)",
    ),
    "rust-wheel-timer": ("rust/wheel-timer.toml", "the ring of Rust's wheel_timer (needs cargo)"),
    "libuv": ("python/libuv.toml", "timers of the system's libuv, real clock (needs libuv1)"),
    "libevent": (
        "python/libevent.toml",
        "timers of the system's libevent, real clock (needs libevent-core-2.1-7)",
    ),
}
"""The timers of other people by word: the declaration among the adapters, and a summary."""

REGISTERED: tuple[Registered, ...] = (
    Registered(
        "bundled",
        "our own timer, purgatory, memory pool and network, virtual clock, in process",
        "purgatory_conformance.subjects.bundled:bundled_subject",
    ),
    Registered(
        "bundled-proposal",
        "our own purgatory with the accounting as published: breaks PURGATORY-STALE-OPERATIONS",
        "purgatory_conformance.subjects.bundled:bundled_proposal_subject",
    ),
    Registered(
        "bundled-fixed-interval",
        "our own purgatory with its purges as published, at the interval",
        "purgatory_conformance.subjects.bundled:bundled_fixed_subject",
    ),
    Registered(
        "bundled-inline",
        "our own timer and purgatory with an executor that runs at once",
        "purgatory_conformance.subjects.bundled:bundled_inline_subject",
    ),
    Registered(
        "bundled-real-clock",
        "our own timer with its reaper thread and the real clock",
        "purgatory_conformance.subjects.bundled.real_clock:bundled_real_clock_subject",
    ),
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
