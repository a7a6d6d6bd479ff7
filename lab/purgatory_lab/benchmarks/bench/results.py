"""The file of results: everything that a run has measured, and why something was not.

One JSON object; its schema is ``purgatory bench schema``. What a reader needs follows from this
file alone: figures, ratios, goals and plots are not stored.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from purgatory_lab.documents import read_document

Figure: TypeAlias = int | float | str | None
Option: TypeAlias = bool | int | float | str | tuple[int | str, ...] | None
Request: TypeAlias = Mapping[str, int | float | str]


class Machine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The machine on which the measures were taken.

    Attributes:
        processor: Its name; empty where the system does not tell.
        cores: How many processors this process may use.
        memory_mib: Of the whole machine; None where the system does not tell.
        system: Name and release of the operating system, and the kind of machine.
        python: Of the controller.
        package: Version of this package.
        commit: Of the checkout, with ``+`` behind it where files were changed; empty without one.
        load_begin: Load averages over 1, 5 and 15 minutes before the first request.
        load_end: The same after the last answer.
    """

    processor: str
    cores: int
    memory_mib: int | None
    system: str
    python: str
    package: str
    commit: str
    load_begin: tuple[float, float, float] | None
    load_end: tuple[float, float, float] | None


class PeerFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A peer of the measurement, as results name it.

    Attributes:
        name: Its name in the tables.
        reason: Why the peer was not measured at all; empty for a measured peer.
        version: The version of the peer's library, from the hello.
        runtime: The same.
        offers: The measures that the peer can take.
    """

    name: str
    reason: str = ""
    version: str = ""
    runtime: str = ""
    offers: tuple[str, ...] = ()


class Setting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request that is put to every peer.

    Attributes:
        name: Its name, which no other setting of the file has.
        measure: The name of the measure; settings of one measure share their rounds.
        label: The difference from the other settings of the measure.
        request: The line that is sent, without the seed.
    """

    name: str
    measure: str
    label: str
    request: Request


class Measurement(msgspec.Struct, frozen=True):
    """The answer of a peer: times in ns, of the measured part alone."""

    operations: int
    thread_cpu_ns: float | None = None
    process_cpu_ns: float | None = None
    wall_ns: float | None = None
    detail: dict[str, Figure] = {}


class Sample(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer of a peer in one round.

    Attributes:
        setting: Name of what was asked.
        peer: Name of who answered.
        round: From 1; rounds of warming up are 0 and below, and count for nothing.
        place: The peer's position in the order of the round, from 1.
        answer: The peer's answer.
    """

    setting: str
    peer: str
    round: int
    place: int
    answer: Measurement


class Failure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A setting that a peer has no figures of, and why."""

    setting: str
    peer: str
    reason: str


class Curve(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Resident memory of a peer's process while it ran.

    Attributes:
        setting: The name of the setting.
        peer: Who was asked.
        limit_mib: Beyond this the process was ended.
        exceeded: Whether it was.
        seconds: When memory was looked at, from the request on.
        mib: How much there was.
    """

    setting: str
    peer: str
    limit_mib: float
    exceeded: bool
    seconds: list[float]
    mib: list[float]


class Results(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A run of the command, as its file holds it.

    Attributes:
        format: The kind of file.
        version: Of this schema.
        kind: The command that wrote the file.
        began: Date and time, UTC, ISO 8601.
        seconds: How long it took.
        options: What the command was told.
        machine: What it ran on.
        peers: In the order of the tables.
        settings: In the order of the tables.
        samples: In the order in which they were taken.
        failures: What has no figures.
        curves: Of the run with a limit on memory.
    """

    format: Literal["purgatory-bench"]
    version: Literal[1]
    kind: Literal["measures", "workload"]
    began: str
    seconds: float
    options: dict[str, Option]
    machine: Machine
    peers: Sequence[PeerFacts]
    settings: Sequence[Setting]
    samples: Sequence[Sample]
    failures: Sequence[Failure] = ()
    curves: Sequence[Curve] = ()


def read_results(path: Path) -> Results:
    """Read a file of results.

    Raises:
        Problem: it is none.
    """
    return read_document(path, Results)


def schema() -> str:
    """Return the JSON schema of the file."""
    return msgspec.json.format(msgspec.json.encode(msgspec.json.schema(Results))).decode()
