"""A server with a thread for each connection: whoever waits for memory is woken by each release."""

# A request is four bytes of size and a body, a response is four bytes of zero. Its words to an
# adapter are those of the server in the template ``conformance/adapters/python-server``.

import socket
import threading
from contextlib import suppress
from typing import Any

from purgatory_spec.profiles import Component

from ..design import Stranger
from .by_the_template import ServerInstance


class Seat:
    """A connection, and what its thread stands still for; nothing while the thread works."""

    def __init__(self, connected: socket.socket, port: int) -> None:
        self.socket, self.port = connected, port
        self.read_bytes, self.waits_for, self.request = 0, "bytes", 0


class HerdServer:
    """One condition guards the bytes that are left, the seats and the requests."""

    def __init__(self, limit_bytes: int, max_request_bytes: int, strict: bool) -> None:
        self.left_bytes, self.most_bytes, self.strict = limit_bytes, max_request_bytes, strict
        self.changed = threading.Condition()
        self.seats: list[Seat] = []
        self.told: list[dict[str, Any]] = []
        self.handled: dict[int, int] = {}
        self.requests, self.is_over = 0, False
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        with suppress(OSError):
            while True:
                connected, (_, port) = self.listener.accept()
                with self.changed:
                    self.seats.append(Seat(connected, port))
                threading.Thread(target=self.serve, args=self.seats[-1:], daemon=True).start()

    def serve(self, seat: Seat) -> None:
        with suppress(ConnectionError), seat.socket:
            while not self.is_over:
                self.serve_one(seat)
        with self.changed:
            seat.waits_for = "closed"

    def serve_one(self, seat: Seat) -> None:
        size_bytes = int.from_bytes(self.read(seat, 4), "big", signed=True)
        if size_bytes not in range(self.most_bytes + 1):
            raise ConnectionAbortedError("no such size")
        self.borrow(seat, size_bytes)
        try:
            body = self.read(seat, size_bytes)
        except ConnectionError:
            self.break_off(size_bytes)
            raise
        self.hand_on(seat, body)
        seat.socket.sendall(bytes(4))

    def read(self, seat: Seat, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            seat.waits_for = "bytes"
            piece = seat.socket.recv(count - len(data))
            with self.changed:
                seat.read_bytes += len(piece)
                seat.waits_for = ""
            if not piece:
                raise ConnectionResetError("the client has gone")
            data += piece
        return bytes(data)

    def borrow(self, seat: Seat, size_bytes: int) -> None:
        with self.changed:
            while not self.is_enough(size_bytes):
                self.stand_still(seat, "memory")
            self.left_bytes -= size_bytes

    def is_enough(self, size_bytes: int) -> bool:
        return size_bytes == 0 or self.left_bytes >= (size_bytes if self.strict else 1)

    def stand_still(self, seat: Seat, waits_for: str) -> None:
        """Wait until somebody says that this seat goes on; the lock is held."""
        seat.waits_for = waits_for
        self.changed.wait_for(lambda: not seat.waits_for or self.is_over)
        if self.is_over:
            raise ConnectionAbortedError("the server ends")

    def give_back(self, size_bytes: int) -> None:
        with self.changed:
            self.left_bytes += size_bytes
            self.wake([seat for seat in self.seats if seat.waits_for == "memory"])

    def wake(self, waiting: list[Seat]) -> None:
        for seat in waiting:
            seat.waits_for = ""
        self.changed.notify_all()

    def break_off(self, size_bytes: int) -> None:
        self.give_back(size_bytes)

    def hand_on(self, seat: Seat, body: bytes) -> None:
        with self.changed:
            self.requests += 1
            seat.request, self.handled[self.requests] = self.requests, len(body)
            self.told.append({"request": self.requests, "port": seat.port, "body": body.hex()})
            self.stand_still(seat, "response")

    def release(self, request: int) -> None:
        self.give_back(self.handled.pop(request))

    def respond(self, request: int) -> None:
        with self.changed:
            self.wake([s for s in self.seats if (s.request, s.waits_for) == (request, "response")])

    def look(self) -> dict[str, Any]:
        with self.changed:
            told, self.told = self.told, []
            rows = {
                str(seat.port): {"read_bytes": seat.read_bytes, "waits_for": seat.waits_for}
                for seat in self.seats
            }
            return {"received": told, "connections": rows, "available_bytes": self.left_bytes}

    def end(self) -> None:
        with self.changed:
            self.is_over = True
            self.changed.notify_all()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class AsksForNothing(HerdServer):
    """Its pool refuses a request for nothing, and an empty request waits for memory."""

    def is_enough(self, size_bytes: int) -> bool:
        return size_bytes > 0 and super().is_enough(size_bytes)


class KeepsHalfARequest(HerdServer):
    """The memory of a request that breaks off is not given back."""

    def break_off(self, size_bytes: int) -> None:
        """Give nothing back to the pool."""


class WakesOne(HerdServer):
    """A release wakes one of those that wait, whether or not there is enough for it."""

    def wake(self, waiting: list[Seat]) -> None:
        super().wake(waiting[:1])


STRANGER = Stranger(
    Component.CHANNEL_MUTING,
    {
        "recovery": "everyone",
        "features": ["plain", "strict", "non_strict", "respond_first", "hang_up", "half_close"],
        "observables": ["available_bytes", "open"],
    },
    HerdServer,
    {
        AsksForNothing: {"MUTING-EMPTY"},
        KeepsHalfARequest: {"MUTING-END-MID-REQUEST"},
        WakesOne: {"MUTING-RECOVER"},
    },
    lambda design, asked: ServerInstance(
        design(asked.limit_bytes, asked.max_request_bytes, asked.strict), asked
    ),
)
