"""Requests of tests to a peer: lines in, answers out, in this process."""

import io
import json
from typing import Any

from purgatory_lab.benchmarks.python_peer.conversation import converse
from purgatory_lab.benchmarks.python_peer.peers import Peer, peers


def said(peer: Peer, *lines: str, alone: bool = True) -> list[dict[str, Any]]:
    """All that a peer says to these lines, its hello first."""
    output = io.StringIO()
    converse(peer, lines, output, alone=alone)
    return [json.loads(line) for line in output.getvalue().splitlines()]


def asked(name: str, measure: str, **keys: object) -> dict[str, Any]:
    """The answer of the peer of a name to one request, measured in this process."""
    return said(peers()[name], json.dumps({"measure": measure, "seed": 7, **keys}))[1]
