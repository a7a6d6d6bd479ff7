"""Instances of the modules: those that simulations are made of, and those of the manifest."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from purgatory_tla.checkers.configurations import Configuration


@dataclass(frozen=True, slots=True)
class Instance:
    """A module with values for its constants.

    ``sequential`` restricts the behaviours to calls one after another, in modules whose calls may
    overlap. ``extension`` is the suffix of the module that is run.
    """

    name: str
    title: str
    module: str
    constants: Mapping[str, str]
    sequential: bool = False
    extension: str = "History"

    def file(self, modules: Path) -> Path:
        """Return the module whose behaviours show their labels, and keep to the calls' order."""
        suffix = "Sequential" if self._has_module_of_its_own else self.extension
        return modules / f"{self.module}{suffix}.tla"

    @property
    def configuration(self) -> Configuration:
        """Return the configuration for TLC; it checks nothing by itself."""
        specification = "SequentialSpec" if self._has_module_of_its_own else "HistorySpec"
        return Configuration(specification=specification, constants=self.constants)

    def in_sequence(self) -> "Instance":
        """Return the instance with one call after another."""
        constants = dict(self.constants)
        if self.module == "PurgatoryProposal":
            features = constants["Features"].strip().strip("{}").split(",")
            named = sorted({each.strip() for each in features if each.strip()} | {'"sequential"'})
            constants["Features"] = "{" + ", ".join(named) + "}"
        return replace(self, constants=constants, sequential=True)

    @property
    def _has_module_of_its_own(self) -> bool:
        """Decide whether sequential behaviours have a module of their own."""
        return self.sequential and self.module == "PurgatoryExact"


_TIMER = {
    "Tasks": '{"a", "b", "c"}',
    "Delays": "{1, 2, 5, 9}",
    "Tick": "1",
    "Start": "0",
    "Last": "40",
    "MostQueued": "2",
    "LargestDelay": "99",
    "Features": '{"readd", "cancel"}',
    "Defects": "{}",
}
_WHEEL = {**_TIMER, "Delays": "{0, 1, 2, 5, 9}", "WheelSize": "3", "MostLevels": "5"}
_POOL = {
    "Threads": '{"t1", "t2", "t3"}',
    "PoolSize": "4",
    "MaxSingle": "3",
    "Features": "{}",
    "Defects": "{}",
}
_PROPOSAL = {
    "Callers": '{"c1", "c2"}',
    "Completers": '{"x1"}',
    "Keys": '{"k1", "k2"}',
    "OperationCount": "5",
    "Threshold": "<- Alternating",
    "MaxEvents": "3",
    "PurgeInterval": "1",
    "Features": '{"sequential"}',
    "Defects": "{}",
}
_EXACT = {
    "Callers": '{"caller"}',
    "Completers": '{"completer"}',
    "Cancellers": "{}",
    "Forcers": "{}",
    "Purgers": '{"purger"}',
    "Operations": "{1, 2, 3, 4, 5}",
    "Keys": '{"k1", "k2"}',
    "Demanding": "{2, 4}",
    "Throwing": "{}",
    "MaxEvents": "2",
    "MaxCalls": "1",
    "Duplicates": "1",
    "PurgeInterval": "1",
    "Features": '{"time-outs"}',
    "Defects": "{}",
}

INSTANCES = (
    Instance("timer", "Adds, cancels and second adds of three tasks.", "Timer", _TIMER),
    Instance(
        "timer-shutdown",
        "The timer is shut down while tasks are pending and queued.",
        "Timer",
        {**_TIMER, "Delays": "{5}", "Features": '{"cancel", "shutdown"}'},
    ),
    Instance("timing-wheel", "Three tasks on a wheel of three buckets.", "TimingWheel", _WHEEL),
    Instance(
        "timing-wheel-one-delay",
        "The smallest wheel, whose tasks keep their delay.",
        "TimingWheel",
        {**_WHEEL, "Delays": "{5}", "WheelSize": "2", "MostLevels": "8"},
    ),
    Instance("memory-pool", "Three threads ask a non-strict pool.", "MemoryPool", _POOL),
    Instance(
        "memory-pool-strict",
        "Three threads ask a strict pool.",
        "MemoryPool",
        {**_POOL, "Features": '{"strict"}'},
    ),
    Instance(
        "memory-pool-released-twice",
        "Buffers are released twice, which a pool with identities finds out.",
        "MemoryPool",
        {**_POOL, "Features": '{"identity"}', "Defects": '{"double-release"}'},
    ),
    Instance(
        "memory-pool-foreign",
        "Buffers are released that the pool has not granted, and it finds them out.",
        "MemoryPool",
        {**_POOL, "Features": '{"identity"}', "Defects": '{"foreign-release"}'},
    ),
    Instance(
        "purgatory-proposal",
        "Two callers, a completer, a reaper and an executor, one call at a time.",
        "PurgatoryProposal",
        _PROPOSAL,
    ),
    Instance(
        "purgatory-proposal-interleaved",
        "The same, all calls at the same time.",
        "PurgatoryProposal",
        {**_PROPOSAL, "Features": "{}"},
    ),
    Instance(
        "purgatory-proposal-cancelled",
        "The same, one call at a time, with keys that are cancelled as Kafka cancels them.",
        "PurgatoryProposal",
        {**_PROPOSAL, "Features": '{"cancel-for-key", "sequential"}'},
    ),
    Instance(
        "purgatory-exact",
        "A caller, a completer, a purger and an executor, one call at a time.",
        "PurgatoryExact",
        _EXACT,
        sequential=True,
    ),
    Instance(
        "purgatory-exact-interleaved",
        "The same, all calls at the same time.",
        "PurgatoryExact",
        _EXACT,
    ),
    Instance(
        "purgatory-exact-cancelled",
        "Operations are forced and keys cancelled, one call at a time.",
        "PurgatoryExact",
        {**_EXACT, "Cancellers": '{"canceller"}', "Forcers": '{"forcer"}'},
        sequential=True,
    ),
    Instance(
        "purgatory-exact-watched-again",
        "Operations are watched twice, under keys that are given twice.",
        "PurgatoryExact",
        {**_EXACT, "MaxCalls": "2", "Duplicates": "2"},
        sequential=True,
    ),
)
"""The instances that simulations are made of."""
