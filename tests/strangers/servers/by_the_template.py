"""A server behind the steps by the adapter of the template, whose admin port is a call here."""

import importlib.util
from typing import Any, Protocol

import msgspec

from purgatory_conformance.resources import adapter_folder
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Event, Outcome
from purgatory_spec.profiles import ChannelMutingConfiguration
from purgatory_spec.reasons import Reason


class Server(Protocol):
    """A server of any design, with the words of the template's."""

    listener: Any

    def release(self, request: int) -> None:
        """Give back the memory of a request."""

    def respond(self, request: int) -> None:
        """Answer a request."""

    def look(self) -> dict[str, Any]:
        """Return the requests received since the last look, and what every connection waits for."""

    def end(self) -> None:
        """Let every thread end."""


class AdminPort:
    """The words of an adapter to its server's process, said to a server of this process."""

    def __init__(self, server: Server) -> None:
        """The server is there already."""
        self.server = server

    def ask(self, do: str, **fields: Any) -> dict[str, Any]:
        """One question."""
        match do:
            case "new":
                return {"port": self.server.listener.getsockname()[1]}
            case "look":
                return self.server.look()
            case "release":
                self.server.release(**fields)
            case "respond":
                self.server.respond(**fields)
        return {}


def _template() -> Any:
    path = adapter_folder("python-server") / "adapter.py"
    found = importlib.util.spec_from_file_location("template_of_a_server", path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


TEMPLATE = _template()


class ServerInstance:
    """One case of the template's adapter."""

    def __init__(self, server: Server, configuration: ChannelMutingConfiguration) -> None:
        """Begin without any connection."""
        self.server = server
        asked = msgspec.to_builtins(configuration)
        self.case = TEMPLATE.Case(AdminPort(server), asked)

    def do(self, operation: Operation) -> Outcome:
        """Carry out one operation."""
        asked = msgspec.to_builtins(operation)
        reply = self.case.do(asked["op"], asked)
        if "unsupported" in reply:
            return Outcome(rejected=Reason.UNSUPPORTED)
        shown = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in reply["observed"].items()
        }
        return Outcome(
            rejected=Reason(reply["rejected"]) if "rejected" in reply else None,
            events=tuple(msgspec.convert(each, Event) for each in reply["events"]),
            observed=shown,
        )

    def close(self) -> None:
        """The clients go, and the server with them."""
        self.case.end()
        self.server.end()
