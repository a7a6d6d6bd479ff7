"""The file of a run: everything that was measured. Aims, verdicts and tables follow from it."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from purgatory_lab.benchmarks.bench.results import Machine
from purgatory_lab.benchmarks.network.messages import Load, Served

Design: TypeAlias = Literal["byte bound", "no bound", "queue bound alone"]
Build: TypeAlias = Literal["pure", "compiled"]
Memory: TypeAlias = Literal["default", "padded"]


class SpikeSample(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A spike of very large requests.

    Attributes:
        design: What is bounded.
        tls: Whether it came by TLS.
        limit_bytes: What the check holds the design to, together with the largest request.
        load: What came.
        served: What the server has measured.
    """

    design: Design
    tls: bool
    limit_bytes: int
    load: Load
    served: Served

    @property
    def allowed_bytes(self) -> int:
        """Return the bound: limit + largest request - 1."""
        return self.limit_bytes + self.load.body_bytes - 1


class FairnessSample(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The shares of service in one order.

    Attributes:
        order: Who is let on when memory comes back.
        is_late: Whether responses came only after the next reception.
        served: How many requests of each client.
        longest_wait: The most requests of others that were received while one was pending.
    """

    order: str
    is_late: bool
    served: tuple[int, ...]
    longest_wait: int


class IdleSample(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All connections wait for memory, and nothing else happens.

    Attributes:
        tls: Whether they are encrypted.
        spins: Whether this is the control.
        served: What the server has measured.
    """

    tls: bool
    spins: bool
    served: Served


class LoadSample(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Requests that are answered at once.

    Attributes:
        name: Of the load.
        build: Pure or compiled.
        tls: Whether they came by TLS.
        memory: How the C library was told to keep memory.
        is_bounded: Whether there was a limit, which was never reached.
        round: From 1.
        load: What came.
        served: What the server has measured.
    """

    name: str
    build: Build
    tls: bool
    memory: Memory
    is_bounded: bool
    round: int
    load: Load
    served: Served

    @property
    def requests_per_cpu_s(self) -> float:
        """Return the number of requests for each second of the server's processor time."""
        return self.served.requests / self.served.cpu_s

    @property
    def gigabytes_per_cpu_s(self) -> float:
        """Return the bodies for each second of the server's processor time, 10^9 bytes."""
        return self.requests_per_cpu_s * self.load.body_bytes / 1e9


class NetworkResults(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A run of the network command, as its file holds it.

    Attributes:
        format: The kind of file.
        version: Of this schema.
        began: Date and time, UTC, ISO 8601.
        seconds: How long it took.
        command: The command.
        machine: What it ran on.
        spikes: In the order of the table; so with the others.
        fairness: The orders.
        idles: The idle servers.
        loads: All rounds.
    """

    format: Literal["purgatory-bench-network"]
    version: Literal[1]
    began: str
    seconds: float
    command: str
    machine: Machine
    spikes: Sequence[SpikeSample] = ()
    fairness: Sequence[FairnessSample] = ()
    idles: Sequence[IdleSample] = ()
    loads: Sequence[LoadSample] = ()
