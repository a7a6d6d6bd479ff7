# SPDX-License-Identifier: CC0-1.0
"""A server behind the adapter protocol: connect, send, see. Copy this folder, put in yours.

The server reads by itself. So what would make it read waits here until the next ``poll``, and
nobody looks at it in between.
"""

import json
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]

SERVER = [sys.executable, "naive_server.py"]  # it prints its admin port
PATIENCE_S = 5.0  # so long the server may take to come to rest
PAUSE_S = 0.0002  # between two looks at it

HELLO: Json = {
    "protocol": 1,
    "implementation": {"name": "naive server", "version": "1", "language": "Python"},
    "components": {
        "channel_muting": {  # what is not declared here is neither asked for nor compared
            "recovery": "first_come",
            "features": ["plain", "strict", "non_strict", "respond_first", "hang_up", "half_close"],
            "observables": ["available_bytes", "open"],
        }
    },
}


class ServerProcess:
    """The server under test, by its admin port."""

    def __init__(self) -> None:
        folder = Path(__file__).parent
        self.process = subprocess.Popen(SERVER, cwd=folder, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        address = ("127.0.0.1", int(self.process.stdout.readline()))
        self.lines = socket.create_connection(address, PATIENCE_S).makefile("rw", encoding="utf-8")

    def ask(self, do: str, **fields: Any) -> Json:
        self.lines.write(json.dumps({"do": do, **fields}) + "\n")
        self.lines.flush()
        answer: Json = json.loads(self.lines.readline())
        return answer


class Client:
    """A connection: the requests and bytes that were sent, the responses owed, the end seen."""

    def __init__(self, name: str, port: int) -> None:
        self.name = name
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port = str(self.socket.getsockname()[1])
        self.sizes: list[int] = []  # of the requests, as they were announced
        self.begun_bytes = 0  # of the last of them
        self.received: set[int] = set()  # their numbers, from 1
        self.unanswered: int | None = None  # the server's number of the request
        self.sent_bytes = self.owed_bytes = 0  # sent to it in all; owed by it in responses
        self.has_ended = False
        self.is_open = True

    def next_bytes(self, count: int) -> bytes:
        """So many further bytes of the last request."""
        begin, self.begun_bytes = self.begun_bytes, self.begun_bytes + count
        size = self.sizes[-1].to_bytes(4, "big", signed=True)
        body = [(len(self.sizes) + i) % 251 for i in range(max(0, begin - 4), self.begun_bytes - 4)]
        return size[begin : self.begun_bytes] + bytes(body)

    def name_of(self, body: bytes) -> str:
        for number, size_bytes in enumerate(self.sizes, 1):
            sent = bytes((number + i) % 251 for i in range(size_bytes))
            if number not in self.received and len(body) == size_bytes and body == sent:
                self.received.add(number)
                return f"{self.name}#{number}"
        return f"{self.name}#0"  # nobody sent that, or it was received before

    def send(self, data: bytes) -> None:
        self.sent_bytes += len(data)
        self.try_to(lambda: self.socket.sendall(data))

    def hang_up(self) -> None:
        """Send no more, and stay to see the server's end: it cannot tell this from a close."""
        self.has_ended = True
        self.try_to(lambda: self.socket.shutdown(socket.SHUT_WR))

    def try_to(self, act: Callable[[], None]) -> None:
        try:
            act()
        except OSError:  # the server has closed the connection; ``see`` finds out
            return

    def is_at_rest(self, row: Json) -> bool:
        """Decide whether the server does no more on this connection by itself."""
        if row["waits_for"] == "bytes":
            return bool(row["read_bytes"] == self.sent_bytes and not self.has_ended)
        return row["waits_for"] in ("memory", "response", "closed")

    def see(self, is_said_to_be_closed: bool) -> None:
        """Read what has come; responses that are owed, and the end that is told of, must come."""
        while self.is_open:
            must_come = self.owed_bytes > 0 or is_said_to_be_closed
            self.socket.settimeout(PATIENCE_S if must_come else 0)
            try:
                data = self.socket.recv(4096)
                self.owed_bytes -= len(data)
                self.is_open = bool(data)
            except BlockingIOError:
                return
            except ConnectionError:
                self.is_open = False

    def abort(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


class Case:
    def __init__(self, server: ServerProcess, asked: Json) -> None:
        limit_bytes = asked.get("limit_bytes", 100)
        most_bytes, strict = asked.get("max_request_bytes", 40), asked.get("strict", False)
        made = {"limit_bytes": limit_bytes, "max_request_bytes": most_bytes, "strict": strict}
        self.server = server
        self.port: int = server.ask("new", **made)["port"]
        self.clients: dict[str, Client] = {}
        self.handled: dict[str, tuple[int, int]] = {}  # the server's number, and bytes
        self.later: list[Callable[[], object]] = []  # what is done in the next poll
        self.received: list[Json] = []  # what the server has told of since the last poll
        self.available_bytes: int = limit_bytes  # as the last poll saw it, and released since

    def do(self, op: str, asked: Json) -> Json:
        events: list[Json] = []
        if op == "connect":
            self.clients[asked["channel"]] = Client(asked["channel"], self.port)
            self.rest()
        elif op == "poll":
            events = self.poll()
        elif op == "release":
            if asked["buffer"] not in self.handled:
                return self.shown([], rejected="unknown_name")
            request, size_bytes = self.handled.pop(asked["buffer"])
            self.available_bytes += size_bytes
            self.server.ask("release", request=request)
        elif op not in ("announce", "send", "respond", "hang_up"):
            return {"unsupported": f"there is no operation {op!r} here"}
        elif asked["channel"] not in self.clients:
            return self.shown([], rejected="unknown_name")
        else:
            self.of_client(op, asked, self.clients[asked["channel"]])
        return self.shown(events)

    def of_client(self, op: str, asked: Json, client: Client) -> None:
        if op == "announce":
            client.sizes.append(asked["size_bytes"])
            client.begun_bytes = 0
        if op == "hang_up":
            self.later.append(client.hang_up)
        elif op == "respond":
            self.later.append(lambda: self.respond(client))
        else:
            data = client.next_bytes(asked["sent_bytes"])
            self.later.append(lambda: client.send(data))

    def respond(self, client: Client) -> None:
        if client.unanswered is not None:
            client.owed_bytes += 4
            self.server.ask("respond", request=client.unanswered)
            client.unanswered = None

    def poll(self) -> list[Json]:
        for act in self.later:
            act()
        self.later.clear()
        seen = self.rest()
        for client in self.clients.values():
            client.see(seen["connections"][client.port]["waits_for"] == "closed")
        self.available_bytes = seen["available_bytes"]
        received, self.received = self.received, []
        return [self.take(each) for each in received]

    def rest(self) -> Json:
        """Look until every connection is at rest; what was seen last."""
        ends_s = time.monotonic() + PATIENCE_S
        while True:
            seen = self.server.ask("look")
            self.received += seen["received"]
            rows = seen["connections"]
            if all(c.port in rows and c.is_at_rest(rows[c.port]) for c in self.clients.values()):
                return seen
            if time.monotonic() > ends_s:
                raise TimeoutError(f"the server has not come to rest: {rows}")
            time.sleep(PAUSE_S)

    def take(self, told: Json) -> Json:
        (client,) = (c for c in self.clients.values() if c.port == str(told["port"]))
        body = bytes.fromhex(told["body"])
        name = client.name_of(body)
        client.unanswered = told["request"]
        self.handled[name] = (told["request"], len(body))
        return {"kind": "received", "task": name}

    def shown(self, events: list[Json], **more: str) -> Json:
        names = sorted(name for name, client in self.clients.items() if client.is_open)
        observed = {"available_bytes": self.available_bytes, "open": names}
        return {"events": events, "observed": observed, **more}

    def end(self) -> None:
        for client in self.clients.values():
            client.abort()


def main() -> None:
    server, case = ServerProcess(), None
    for line in filter(bytes.strip, sys.stdin.buffer):  # until "stop" or the end of input
        reply: Json = {"id": 0}  # stays 0 where the request cannot be read
        try:
            request = json.loads(line)
            kind, reply["id"] = request["request"], int(request["id"])
            if kind == "stop":
                return
            if kind == "hello":
                reply |= HELLO
            elif kind == "new":
                if case is not None:  # also where it was never ended
                    case.end()
                case = Case(server, request["configuration"])
            elif kind == "do" and case is not None:
                reply |= case.do(request["operation"]["op"], request["operation"])
            elif kind != "end":
                reply["unsupported"] = f"there is no request {kind!r} here"
        except Exception as error:  # the adapter itself failed; the runner will say so
            reply["error"] = f"{type(error).__name__}: {error}"
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
