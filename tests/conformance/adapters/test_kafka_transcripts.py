"""Drive the Kafka adapter line by line, with what each release replies: what no campaign asks."""

# The regular behaviour is judged by the campaigns of ``test_kafka_conformance`` and its like.

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from purgatory_conformance.subjects.kafka import KafkaMode
from tests.known_cases import known_cases

from .adapter_process import Adapter, started
from .releases import releases

pytestmark = [pytest.mark.java, pytest.mark.slow]

RELEASES = {
    "timers": releases("4.4.0", "4.0.0"),
    "purgatories": releases("4.4.0", "4.0.0", "3.9.1", "2.4.1"),
    "memory_pools": releases("4.4.0", "4.0.0", "3.9.1"),
    "servers": releases("4.4.0", "4.0.0", "3.9.1", "2.8.2"),
}


class Exchange(NamedTuple):
    """A request, and the whole reply or a part of it; None for both where it is free."""

    ask: dict[str, Any]
    reply: dict[str, Any] | None = None
    has: dict[str, Any] | None = None


def transcripts(name: str) -> Iterator[tuple[str, KafkaMode, list[Exchange]]]:
    """Yield the cases of a file, each with the mode of the adapter."""
    path = Path(__file__).with_name("transcripts") / f"{name}.jsonl"
    for case, header, lines in known_cases(path):
        mode = KafkaMode(header.get("mode", KafkaMode.VIRTUAL.value))
        yield case, mode, [Exchange(**json.loads(line)) for line in lines]


def part(whole: object, of: object) -> object:
    """Return what a reply says in the places that an expected part of it names."""
    if isinstance(whole, dict) and isinstance(of, dict):
        return {name: part(whole.get(name), each) for name, each in of.items()}
    return whole


@pytest.fixture(scope="module")
def adapter(request: pytest.FixtureRequest) -> Iterator[Adapter]:
    yield from started(*request.param)


@pytest.mark.parametrize(
    ("adapter", "exchanges"),
    [
        pytest.param(
            (*release.values, mode),
            exchanges,
            marks=release.marks,
            id=f"{file}: {case}, {release.values[0]}",
        )
        for file, asked in RELEASES.items()
        for release in asked
        for case, mode, exchanges in transcripts(file)
    ],
    indirect=["adapter"],
)
def test_the_adapter_replies_as_recorded(adapter: Adapter, exchanges: list[Exchange]) -> None:
    for ask, reply, has in exchanges:
        told = adapter.ask(**ask)
        assert reply is None or told == reply, ask
        assert has is None or part(told, has) == has, ask
