"""Compare the small server with the bundled one, case by case: both do the same."""

# Each case says what is received at each step, and what is shown at its end; whatever else is shown
# must be equal on both. What the rules leave free is not in these cases.

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from purgatory_conformance.specimens.small.channel_muting import small_server_subject
from purgatory_conformance.specimens.wrong.recovering import NewcomerPasses
from purgatory_conformance.subjects.bundled import bundled_subject
from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_spec.messages import Do, NewChannelMuting, Reply
from purgatory_spec.operations import (
    Add,
    Announce,
    Close,
    Connect,
    Construct,
    Elapse,
    Ending,
    HangUp,
    Operation,
    Poll,
    PollWhile,
    Release,
    Respond,
    Send,
    Throttle,
    Unthrottle,
)
from purgatory_spec.outcomes import Outcome, Value
from purgatory_spec.profiles import ChannelMutingConfiguration
from purgatory_spec.reasons import Reason
from purgatory_spec.resources import specification_folder

SUBJECTS = {"small": small_server_subject, "bundled": bundled_subject}
TEN = ChannelMutingConfiguration(10, 10)


def whole(channel: str, size: int) -> Announce:
    """A request with its body."""
    return Announce(channel, size, 4 + size)


def connected(*channels: str) -> tuple[Operation, ...]:
    return tuple(map(Connect, channels))


FULL = (*connected("c1", "c2"), whole("c1", 10), Poll())
"""Nothing is available: the handler of c1#1 has all memory."""


@dataclass(frozen=True)
class Case:
    """``receives`` are the requests that are received, in their order; ``shows`` is the end."""

    title: str
    operations: tuple[Operation, ...]
    receives: tuple[str, ...]
    shows: dict[str, Value]
    configuration: ChannelMutingConfiguration = TEN
    transports: tuple[bool, ...] = field(default=(False, True))


CASES = (
    Case(
        "a request waits, and is received whole after the release",
        (*FULL, whole("c2", 10), Poll(), Release("c1#1"), Respond("c1"), Poll()),
        ("c1#1", "c2#1"),
        {"available_bytes": 0, "ordered": ("c2",), "waiting": ()},
    ),
    Case(
        "the size alone asks for the memory of all",
        (Connect("c1"), Announce("c1", 7, 3), Poll(), Send("c1", 1), Poll()),
        (),
        {"available_bytes": 3, "holding": ("c1",)},
    ),
    Case(
        "the first that was refused is the first that is served, whoever comes",
        (
            *connected("c1", "c2", "c3"),
            *(whole("c1", 10), Poll(), whole("c3", 10), Poll(), whole("c2", 10), Poll()),
            *(Release("c1#1"), Respond("c1"), whole("c1", 10), Poll()),
            *(Release("c3#1"), Poll(), Release("c2#1"), Poll()),
        ),
        ("c1#1", "c3#1", "c2#1", "c1#2"),
        {"available_bytes": 0, "ordered": ("c1", "c2", "c3"), "waiting": ()},
    ),
    Case(
        "a newcomer stands behind who waits, also where there is memory for it",
        (
            *connected("c1", "c2", "c3"),
            *(whole("c1", 8), Poll(), whole("c2", 5), Poll(), whole("c3", 1), Poll()),
        ),
        ("c1#1",),
        {"available_bytes": 2, "waiting": ("c2", "c3"), "ordered": ("c1",)},
        ChannelMutingConfiguration(10, 10, strict=True),
    ),
    Case(
        "memory that comes back during the select lets the channel on, and its rest is read",
        (
            *(*FULL, Announce("c2", 10, 9), Poll(), PollWhile("c1#1")),
            *(Send("c2", 5), Poll(), Release("c2#1"), Respond("c2")),
        ),
        ("c1#1", "c2#1"),
        {"available_bytes": 10, "ordered": ("c1",), "waiting": (), "holding": ()},
    ),
    Case(
        "a response brings no memory back, and its release does",
        (*FULL, whole("c2", 1), Poll(), Respond("c1"), Poll(), Release("c1#1"), Poll()),
        ("c1#1", "c2#1"),
        {"available_bytes": 9, "ordered": ("c2",)},
    ),
    Case(
        "memory lets nobody on whose request is not answered",
        (*FULL, whole("c1", 3), whole("c2", 3), Poll(), Release("c1#1"), Poll()),
        ("c1#1", "c2#1"),
        {"available_bytes": 7, "ordered": ("c1", "c2"), "holding": ()},
    ),
    Case(
        "throttling ends after the response",
        (
            *(*FULL, Throttle("c1"), Release("c1#1"), Respond("c1"), whole("c1", 2), Poll()),
            *(Unthrottle("c1"), Poll()),
        ),
        ("c1#1", "c1#2"),
        {"available_bytes": 8, "ordered": ("c1",)},
    ),
    Case(
        "an empty request needs no memory",
        (*FULL, whole("c2", 0), Poll()),
        ("c1#1", "c2#1"),
        {"available_bytes": 0, "ordered": ("c1", "c2"), "waiting": ()},
    ),
    Case(
        "a size that cannot be closes its connection alone",
        (*connected("c1", "c2"), Announce("c1", 2**31 - 1, 4), Poll(), whole("c2", 2), Poll()),
        ("c2#1",),
        {"available_bytes": 8, "open": ("c2",)},
    ),
    Case(
        "an end within a request gives its memory to who waits",
        (
            *(*connected("c1", "c2"), Announce("c1", 10, 6), Poll(), whole("c2", 4), Poll()),
            *(HangUp("c1"), Poll()),
        ),
        ("c2#1",),
        {"available_bytes": 6, "open": ("c2",)},
    ),
    Case(
        "a reset within a request gives its memory back",
        (Connect("c1"), Announce("c1", 10, 6), Poll(), HangUp("c1", Ending.RESET), Poll()),
        (),
        {"available_bytes": 10, "open": ()},
    ),
    Case(
        "an end while a request waits that is not whole is noticed at once",
        (*FULL, Announce("c2", 10, 6), Poll(), HangUp("c2"), Poll()),
        ("c1#1",),
        {"available_bytes": 0, "open": ("c1",), "waiting": ()},
        transports=(False,),
    ),
    Case(
        "a request that is handled keeps its memory when its client ends",
        (*FULL, HangUp("c1"), whole("c2", 1), Poll(), Release("c1#1"), Poll()),
        ("c1#1", "c2#1"),
        {"available_bytes": 9, "waiting": ()},
    ),
    Case(
        "who sends no more is answered, also after it waited",
        (
            *(*FULL, whole("c2", 4), Poll(), HangUp("c2", Ending.HALF_CLOSE), Poll()),
            *(Release("c1#1"), Poll(), Release("c2#1"), Respond("c2"), Poll()),
        ),
        ("c1#1", "c2#1"),
        {"available_bytes": 10, "open": ("c1",)},
    ),
    Case(
        "a connection that the server closes holds nothing",
        (
            *(*connected("c1", "c2"), Announce("c1", 10, 6), Poll(), whole("c2", 4), Poll()),
            *(Close("c1"), Poll()),
        ),
        ("c2#1",),
        {"available_bytes": 6, "open": ("c2",)},
    ),
    Case(
        "who is silent is idle, and who waits is not",
        (
            *(*FULL, Connect("c3"), whole("c2", 4), Poll(), Elapse(101), Poll()),
            *(Release("c1#1"), Poll()),
        ),
        ("c1#1", "c2#1"),
        {"available_bytes": 6, "open": ("c1", "c2"), "depleted_ms": 101},
        ChannelMutingConfiguration(10, 10, idle_limit_ms=100),
    ),
    Case(
        "who holds memory and trickles is closed",
        (
            *(*connected("c1", "c2"), Announce("c1", 10, 4), Poll(), whole("c2", 4), Poll()),
            *(Elapse(60), Send("c1", 1), Poll(), Elapse(101), Send("c1", 1), Poll()),
        ),
        ("c2#1",),
        {"available_bytes": 6, "open": ("c2",), "depleted_ms": 101},
        ChannelMutingConfiguration(10, 10, receive_limit_ms=100),
    ),
)

RUNS = [(case, tls) for case in CASES for tls in case.transports]


def carried_out(
    subject: InProcessSubject,
    configuration: ChannelMutingConfiguration,
    operations: tuple[Operation, ...],
) -> list[Outcome]:
    """The outcomes without words for people; what is received in a step stands by name."""
    with closing(subject):
        subject.new("by hand", configuration)
        outcomes = list(subject.do_all(operations))
    return [
        msgspec.structs.replace(
            each, detail="", events=tuple(sorted(each.events, key=lambda event: event.task))
        )
        for each in outcomes
    ]


@pytest.mark.parametrize(
    ("case", "tls"), RUNS, ids=[f"{case.title}, {'TLS' if tls else 'plain'}" for case, tls in RUNS]
)
def test_both_servers_do_the_same(case: Case, *, tls: bool) -> None:
    configuration = msgspec.structs.replace(case.configuration, tls=tls)
    small, bundled = (
        carried_out(make(), configuration, case.operations) for make in SUBJECTS.values()
    )
    assert small == bundled
    assert tuple(event.task for each in bundled for event in each.events) == case.receives
    assert {each.rejected for each in bundled} == {None}
    assert {**bundled[-1].observed, **case.shows} == bundled[-1].observed


def test_the_comparison_sees_a_server_that_differs() -> None:
    """A control: a server that lets newcomers pass is not equal in the case that says so."""
    case = next(each for each in CASES if each.title.startswith("a newcomer stands"))
    wrong = carried_out(small_server_subject(NewcomerPasses), case.configuration, case.operations)
    assert wrong != carried_out(small_server_subject(), case.configuration, case.operations)


def example_of_the_protocol() -> list[tuple[bytes, bytes]]:
    """The requests of the page's example, each with its reply."""
    page = (specification_folder() / "protocol.md").read_text(encoding="utf-8")
    block = page.partition("### Operations on a server")[2].partition("```json\n")[2]
    lines = block.partition("```")[0].encode().splitlines()
    return list(zip(lines[::2], lines[1::2], strict=True))


@pytest.mark.parametrize("make", SUBJECTS.values(), ids=SUBJECTS)
def test_the_example_of_the_protocol(make: Callable[[], InProcessSubject]) -> None:
    """When its requests are made, the replies are those of the page, as far as these go."""
    (first, _), *steps = example_of_the_protocol()
    configuration = msgspec.json.decode(first, type=NewChannelMuting).configuration
    operations = tuple(msgspec.json.decode(line, type=Do).operation for line, _ in steps)
    outcomes = carried_out(make(), configuration, operations)
    for outcome, (_, line) in zip(outcomes, steps, strict=True):
        reply = msgspec.json.decode(line, type=Reply)
        assert outcome.events == tuple(reply.events)
        shown = {name: _as_json(outcome.observed[name]) for name in reply.observed}
        assert shown == json.loads(line)["observed"]


def _as_json(value: Value) -> object:
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("make", SUBJECTS.values(), ids=SUBJECTS)
def test_limits_that_cannot_be_are_refused_and_names_that_are_not_there(
    make: Callable[[], InProcessSubject],
) -> None:
    operations = (
        *(Construct(10, 10), Construct(0, 10), Construct(9, 10), Construct(10, 0)),
        *(Poll(), Announce("c9", 1, 5), Release("c9#1"), PollWhile("c9#1"), Respond("c9")),
    )
    outcomes = carried_out(make(), TEN, operations)
    invalid, unknown = Reason.INVALID_ARGUMENT, Reason.UNKNOWN_NAME
    assert [each.rejected for each in outcomes] == [
        *(None, None, invalid, invalid),
        *(None, unknown, unknown, unknown, unknown),
    ]


def test_the_bundled_server_leaves_no_descriptor() -> None:
    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir():
        pytest.skip("descriptors cannot be counted here")
    carried_out(bundled_subject(), TEN, CASES[0].operations)
    before = len(list(descriptors.iterdir()))
    for case, tls in RUNS:
        configuration = msgspec.structs.replace(case.configuration, tls=tls)
        carried_out(bundled_subject(), configuration, case.operations)
    assert len(list(descriptors.iterdir())) == before


def test_what_a_server_cannot_be_asked() -> None:
    """Given both servers: the small one does not support it, and the bundled one says so loudly."""
    (outcome,) = carried_out(small_server_subject(), TEN, (Add("a", 1),))
    assert outcome.rejected is Reason.UNSUPPORTED
    with pytest.raises(ValueError, match="no such operation"):
        carried_out(bundled_subject(), TEN, (Add("a", 1),))
