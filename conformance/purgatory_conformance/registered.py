"""The subjects that have a name of their own."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Registered:
    """A subject that comes with the suite."""

    name: str
    summary: str


REGISTERED: tuple[Registered, ...] = (
    Registered(
        "bundled", "our own timer, purgatory, memory pool and network, virtual clock, in process"
    ),
    Registered(
        "bundled-proposal",
        "our own purgatory with the accounting as published: breaks PURGATORY-STALE-OPERATIONS",
    ),
    Registered("bundled-inline", "our own timer and purgatory with an executor that runs at once"),
    Registered("bundled-real-clock", "our own timer with its reaper thread and the real clock"),
    Registered("heap-timer", "a naive timer on a heap, as a child process: the adapter template"),
    Registered(
        "naive-purgatory",
        "a naive purgatory and memory pool, as a child process: the adapter template",
    ),
    Registered("naive-server", "a naive server that only has ports: the adapter template"),
    Registered("kafka", "Apache Kafka's classes, virtual clock (needs Java 17 and Maven)"),
    Registered("kafka-leak-tracking", "Apache Kafka's pool that detects leaks"),
    Registered("kafka-real-clock", "Apache Kafka's SystemTimer with its real clock and threads"),
    Registered("kafka-mock-timer", "Apache Kafka's MockTimer, the test double"),
    Registered("kafka-shared-lock", "Apache Kafka's purgatory, operations with one lock (2.4-3.9)"),
)
"""The subjects that have a name of their own; mutants and profile subjects come on top."""
