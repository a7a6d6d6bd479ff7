"""Requests from sockets, under a bound of memory: channels, network threads, a server.

``memory_line`` says who gets memory next, ``channel`` why a connection is not read, and
``network_thread`` does the reading, one poll after the other; begin there. ``transports`` and
``readiness`` are the only other modules that touch sockets. ``server`` puts threads around it all.
"""

from purgatory_impl.network.channel import Channel, Request
from purgatory_impl.network.limits import NetworkLimits
from purgatory_impl.network.memory_line import MemoryLine
from purgatory_impl.network.network_thread import ClosedChannel, NetworkThread, Polled
from purgatory_impl.network.reasons import CloseReason, Mute
from purgatory_impl.network.server import Handler, Server

__all__ = [
    "Channel",
    "CloseReason",
    "ClosedChannel",
    "Handler",
    "MemoryLine",
    "Mute",
    "NetworkLimits",
    "NetworkThread",
    "Polled",
    "Request",
    "Server",
]
