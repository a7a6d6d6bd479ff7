# SPDX-License-Identifier: CC0-1.0
"""A naive server that bounds its requests' memory, and its admin port: to be replaced by yours.

A request is four bytes of size and a body; a response is four bytes of zero. Each connection has a
thread, which waits for bytes, for memory, and for the response, in this order.
"""

import json
import socket
import threading
from collections import deque
from contextlib import suppress
from typing import Any

PATIENCE_S = 10.0  # so long somebody may take to come to the admin port


class Connection:
    def __init__(self, connected: socket.socket, port: int) -> None:
        self.socket = connected
        self.port = port  # the client's, by which an adapter knows the connection
        self.read_bytes = 0
        self.waits_for = "bytes"  # or "memory", "response", "closed"; "" while the thread works
        self.handled = 0  # the number of the request that its handler has


class Server:
    """The pool, the connections and the requests of one case, all of them under one lock."""

    def __init__(self, limit_bytes: int, max_request_bytes: int, strict: bool) -> None:
        self.max_request_bytes = max_request_bytes
        self.strict = strict
        self.available_bytes = limit_bytes
        self.line: deque[tuple[Connection, int]] = deque()  # who waits for memory, and for how much
        self.connections: list[Connection] = []
        self.handled: dict[int, int] = {}  # requests whose memory is not released: their sizes
        self.received: list[dict[str, Any]] = []  # what nobody has looked at yet
        self.requests = 0
        self.changed = threading.Condition()

    def take(self, connected: socket.socket, port: int) -> None:
        connection = Connection(connected, port)
        with self.changed:
            self.connections.append(connection)
        threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: Connection) -> None:
        try:
            with suppress(OSError):
                while self.serve_one(connection):
                    pass
        finally:
            connection.socket.close()
            with self.changed:
                connection.waits_for = "closed"

    def serve_one(self, connection: Connection) -> bool:
        """Read a request, have it handled, and answer; false at the end of the connection."""
        head = bytearray(4)
        if not self.read(connection, head):
            return False
        size_bytes = int.from_bytes(head, "big", signed=True)
        if not 0 <= size_bytes <= self.max_request_bytes:
            return False
        self.wait_for_memory(connection, size_bytes)
        is_whole = False
        try:
            body = bytearray(size_bytes)  # may raise MemoryError, and then gives back as well
            is_whole = self.read(connection, body)
        finally:
            if not is_whole:
                self.give_back(size_bytes)
        if is_whole:
            self.wait_for_response(connection, body)
            connection.socket.sendall(bytes(4))
        return is_whole

    def read(self, connection: Connection, into: bytearray) -> bool:
        """Fill the memory; false at the end of what the client sends."""
        rest = memoryview(into)
        while rest:
            connection.waits_for = "bytes"
            count = connection.socket.recv_into(rest)
            with self.changed:  # the bytes and the work that they make appear together
                connection.read_bytes += count
                connection.waits_for = ""
            if not count:
                return False
            rest = rest[count:]
        return True

    def wait_for_memory(self, connection: Connection, size_bytes: int) -> None:
        with self.changed:
            if size_bytes == 0:
                return
            connection.waits_for = "memory"
            self.line.append((connection, size_bytes))
            self.serve_line()
            self.changed.wait_for(lambda: connection.waits_for != "memory")

    def serve_line(self) -> None:
        """Grant memory to those who wait, first come first served; the lock is held."""
        while self.line:
            connection, size_bytes = self.line[0]
            if self.available_bytes < (size_bytes if self.strict else 1):
                break
            self.line.popleft()
            self.available_bytes -= size_bytes
            connection.waits_for = ""
        self.changed.notify_all()

    def give_back(self, size_bytes: int) -> None:
        with self.changed:
            self.available_bytes += size_bytes
            self.serve_line()

    def wait_for_response(self, connection: Connection, body: bytearray) -> None:
        """The handler: it has the request until somebody says ``release`` and ``respond``."""
        with self.changed:
            self.requests += 1
            connection.handled = self.requests
            self.handled[self.requests] = len(body)
            told = {"request": self.requests, "port": connection.port, "body": body.hex()}
            self.received.append(told)
            connection.waits_for = "response"
            self.changed.wait_for(lambda: connection.waits_for != "response")

    def release(self, request: int) -> None:
        self.give_back(self.handled.pop(request))

    def respond(self, request: int) -> None:
        with self.changed:
            for connection in self.connections:
                if connection.handled == request and connection.waits_for == "response":
                    connection.waits_for = ""
            self.changed.notify_all()

    def look(self) -> dict[str, Any]:
        """Return the requests received since the last look, and what every connection waits for."""
        with self.changed:
            received, self.received = self.received, []
            rows = {
                each.port: {"read_bytes": each.read_bytes, "waits_for": each.waits_for}
                for each in self.connections
            }
            available = self.available_bytes
        return {"received": received, "connections": rows, "available_bytes": available}

    def stop(self) -> None:
        """Let every thread end; the clients of the case have gone."""
        with self.changed:
            self.line.clear()
            for connection in self.connections:
                connection.waits_for = ""
            self.changed.notify_all()


class Admin:
    """The port by which an adapter makes servers, and is the handler of their requests."""

    def __init__(self) -> None:
        self.server = Server(1, 1, strict=False)
        self.listener = socket.create_server(("127.0.0.1", 0))

    def accept(self) -> None:
        while True:
            connected, (_, port) = self.listener.accept()
            self.server.take(connected, port)

    def answer(self, do: str, **fields: Any) -> dict[str, Any]:
        match do:
            case "new":
                self.server.stop()
                self.server = Server(**fields)
                return {"port": self.listener.getsockname()[1]}
            case "release":
                self.server.release(**fields)
            case "respond":
                self.server.respond(**fields)
            case "look":
                return self.server.look()
        return {}

    def run(self) -> None:
        threading.Thread(target=self.accept, daemon=True).start()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(PATIENCE_S)
            print(listener.getsockname()[1], flush=True)
            connected, _ = listener.accept()
        with connected, connected.makefile("rw", encoding="utf-8") as lines:
            for line in lines:  # until the adapter has gone; with it goes the server
                lines.write(json.dumps(self.answer(**json.loads(line))) + "\n")
                lines.flush()


if __name__ == "__main__":
    Admin().run()
