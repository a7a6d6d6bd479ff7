"""Messages of the two processes: their only argument, and the lines that they answer."""

from typing import Literal

import msgspec


class Load(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Requests of one kind, sent by a number of connections.

    Attributes:
        connections: How many there are.
        requests: How many each connection sends.
        outstanding: How many each connection sends before it reads the responses.
        body_bytes: The size of a request.
        is_crowd: Whether each connection is a thread; otherwise one thread takes all in turn.
    """

    connections: int
    requests: int
    outstanding: int
    body_bytes: int
    is_crowd: bool = False

    @property
    def total(self) -> int:
        """Return the number of all requests."""
        return self.connections * self.requests


class Serve(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The order to a server.

    Attributes:
        scene: Answer at once; answer when all memory that can be had is taken; or keep the first
            request and have all others wait.
        load: What comes.
        limit_bytes: The bound of the pool; -1 is none.
        queued_requests: The bound of the queue, for the scene ``spike``.
        seconds: How long the scene ``idle`` lasts.
        patience_s: After this time the process gives up.
        certificate: The server's certificate and key, a PEM file; empty without TLS.
        spins: Whether the server never stops looking at sockets that it does not read: a control.
    """

    scene: Literal["throughput", "spike", "idle"]
    load: Load
    limit_bytes: int
    queued_requests: int = 500
    seconds: float = 0.0
    patience_s: float = 120.0
    certificate: str = ""
    spins: bool = False


class Ask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The order to the process of the clients.

    Attributes:
        port: Where the server listens.
        load: What to send.
        patience_s: After this time an answer that has not come is a failure.
        authority: Whom to trust, a PEM file; empty without TLS.
    """

    port: int
    load: Load
    patience_s: float = 120.0
    authority: str = ""


class Served(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The figures that a server has measured of itself.

    Attributes:
        is_compiled: Whether the compiled build has served.
        requests: Requests in the measured part.
        cpu_s: Processor time of the whole process in that part, s.
        seconds: Time by the clock in that part, s.
        polls: Rounds of the network thread in that part.
        most_bytes: The most that was out at a time, by the counter that is not the pool's; 0
            where it was not counted.
        grown_bytes: The peak of resident memory, less what it was before the first connection.
        waiting: Connections that waited for memory at the end of the measured part.
        left_bytes: What was out when all connections had gone.
    """

    is_compiled: bool
    requests: int
    cpu_s: float
    seconds: float
    polls: int
    most_bytes: int = 0
    grown_bytes: int = 0
    waiting: int = 0
    left_bytes: int = 0
