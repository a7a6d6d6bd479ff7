"""Stored verdicts: a line of a file for each system, and the table that follows from them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from purgatory_conformance.describing.words import noun
from purgatory_conformance.reporting.results import Results
from purgatory_lab.documents import read_document, table
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import component_of_rule, requirement

SYSTEMS: Mapping[str, str] = {
    "sched": "Python `sched.scheduler`",
    "asyncio": "Python asyncio `call_later`",
    "twisted-clock": "Twisted `task.Clock`",
    "twisted-reactor": "Twisted `reactor.callLater`",
    "trio": "trio deadlines, `MockClock`",
    "eventlet": "eventlet hub timers",
    "apscheduler": "APScheduler, jobs with a date",
    "apscheduler-debug": "APScheduler with its `DebugExecutor`",
    "gevent": "gevent `spawn_later`, real clock",
    "uvloop": "uvloop `call_later`, real clock",
    "go-time": "Go `time.AfterFunc`",
    "go-timingwheel": "Go `RussellLuo/timingwheel`",
    "go-benbjohnson-clock": "Go `benbjohnson/clock`, `Mock`",
    "go-clockwork": "Go `jonboulle/clockwork`, `FakeClock`",
    "go-robfig-cron": "Go `robfig/cron`, schedules of one time",
    "go-gocron": "Go `go-co-op/gocron`, one-time jobs",
    "java-executor": "JDK `ScheduledThreadPoolExecutor`, real clock",
    "netty": "Netty `HashedWheelTimer`, real clock",
    "netty-size": "Netty `HashedWheelTimer`, `pendingTimeouts()` as size",
    "dubbo": "Apache Dubbo `HashedWheelTimer`, real clock",
    "jraft": "SOFAJRaft `HashedWheelTimer`, real clock",
    "agrona": "Agrona `DeadlineTimerWheel`",
    "jetty": "Jetty `ScheduledExecutorScheduler`, real clock",
    "jetty-timer": "Jetty `TimerScheduler`, real clock",
    "vertx": "Vert.x `setTimer`, 1 ms in place of 0, real clock",
    "vertx-zero": "Vert.x `setTimer`, 0 ms as they are, real clock",
    "pekko": "Apache Pekko `LightArrayRevolverScheduler`",
    "netty-pool": "Netty `PooledByteBufAllocator`",
    "rust-hash-wheel": "Rust `hierarchical_hash_wheel_timer`",
    "rust-delay-queue": "tokio-util `DelayQueue`",
    "rust-tokio-sleep": "tokio `sleep`, paused clock",
    "rust-wheel-timer": "Rust `wheel_timer`",
    "libuv": "Debian's libuv, timers, real clock",
    "libevent": "Debian's libevent, timers, real clock",
    "npm-fake-timers": "npm `@sinonjs/fake-timers`",
    "npm-long-timeout": "npm `long-timeout`",
    "npm-safe-timers": "npm `safe-timers`",
    "npm-retimer": "npm `retimer`",
    "npm-long-settimeout": "npm `long-settimeout`",
    "npm-cron": "npm `cron`, jobs with a date",
    "npm-croner": "npm `croner`, jobs with a date",
    "npm-node-schedule": "npm `node-schedule`, jobs with a date",
    "npm-timer-wheel": "npm `timer-wheel`",
    "fluss": "Apache Fluss",
    "kafka": "Apache Kafka",
    "kafka@4.0.0": "Apache Kafka",
    "kafka@3.9.1": "Apache Kafka",
    "kafka@2.8.2": "Apache Kafka",
    "kafka@2.6.3": "Apache Kafka",
    "kafka@2.4.1": "Apache Kafka",
    "kafka-leak-tracking": "Apache Kafka `GarbageCollectedMemoryPool`",
    "producer-pool": "Apache Kafka `BufferPool`, the producer's",
    "kafka-real-clock": "Apache Kafka `SystemTimer`, real clock",
    "kafka-mock-timer": "Apache Kafka `MockTimer`, the test double",
}
"""The system's name for each word of ``purgatory check``."""

SEED = 1


def check_words(word: str) -> tuple[str, ...]:
    """Return the words of the command that judges a system."""
    return ("purgatory", "check", word, "--suite", "quick", "--seed", str(SEED))


REGION = "verdicts"
"""The region of the page that the table fills."""

_PAGES = {
    Component.TIMER: "timer",
    Component.PURGATORY: "purgatory",
    Component.MEMORY_POOL: "memory-pool",
    Component.CHANNEL_MUTING: "channel-muting",
}
_HEAD = ("system", "release", "component", "verdict")


class ComponentVerdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The findings about one component: rules that are declared to be broken, and other ones."""

    component: Component
    verdict: str
    held: int
    rules: int
    deviations: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()


class SystemVerdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The verdicts on a system, or why there are none: ``problem`` is a sentence then."""

    word: str
    release: str = ""
    suite_version: str = ""
    components: tuple[ComponentVerdict, ...] = ()
    problem: str = ""


def system_verdict(word: str, results: Sequence[Results]) -> SystemVerdict:
    """Return the verdict of a check's results on a system."""
    header = results[0].header
    return SystemVerdict(
        word,
        release=header.implementation.version,
        suite_version=header.suite_version,
        components=tuple(map(_component_verdict, results)),
    )


def _component_verdict(results: Results) -> ComponentVerdict:
    states = [rule.state for rule in results.rules]
    return ComponentVerdict(
        results.component,
        results.footer.verdict,
        held=states.count("held"),
        rules=len(states),
        deviations=tuple(sorted(each.rule for each in results.deviations)),
        broken=tuple(sorted(rule.id for rule in results.rules if rule.state == "broken")),
    )


def read_verdicts(path: Path) -> dict[str, SystemVerdict]:
    """Return the stored verdicts by word; none without a file.

    Raises:
        Problem: the file has none.
    """
    read = read_document(path, list[SystemVerdict]) if path.is_file() else []
    return {each.word: each for each in read}


def in_order(verdicts: Mapping[str, SystemVerdict]) -> list[SystemVerdict]:
    """Return the verdicts in the order of the table, without systems never judged."""
    return [verdicts[word] for word in SYSTEMS if word in verdicts]


def table_text(verdicts: Sequence[SystemVerdict]) -> str:
    """Return the table as Markdown: a row for each component of each system, which opens."""
    rows = [row for verdict in verdicts for row in _rows(verdict)]
    versions = sorted({each.suite_version for each in verdicts if each.components})
    judged = f"Judged by the suite's version {' and '.join(versions)}." if versions else ""
    return f"{table(_HEAD, rows, left=len(_HEAD))}\n\n{judged}".rstrip()


def _rows(verdict: SystemVerdict) -> Iterator[tuple[str, ...]]:
    command = f"`{' '.join(check_words(verdict.word))}`"
    name = SYSTEMS[verdict.word]
    if verdict.problem:
        yield name, "", "", _opened("not judged", f"{verdict.problem}.", command)
    for each in verdict.components:
        # What is broken ends its cases, so that other rules are hardly put to the test.
        held = () if each.broken else (f"{each.held} of {each.rules} rules held.",)
        told = [*held, *_listed("Deviations", each.deviations), *_listed("Broken", each.broken)]
        summary = f"**{each.verdict}**" if each.broken else each.verdict
        yield name, verdict.release, noun(each.component), _opened(summary, *told, command)


def _opened(summary: str, *told: str) -> str:
    """Return a cell that shows a summary, and opens to the rest."""
    return f"<details><summary>{summary}</summary>{'<br>'.join(told)}</details>"


def _listed(title: str, rules: Sequence[str]) -> Iterator[str]:
    if rules:
        yield f"{title}: {', '.join(map(_link, rules))}."


def _link(rule: str) -> str:
    """Return a link to a rule; its heading on the page of rules is ``ID: title``."""
    heading = f"{rule} {requirement(rule).title}".lower()
    anchor = "-".join(re.sub(r"[^\w\s-]", "", heading).split())
    return f"[{rule}](../spec/{_PAGES[component_of_rule(rule)]}.md#{anchor})"
