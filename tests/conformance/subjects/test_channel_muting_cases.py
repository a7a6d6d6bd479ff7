"""Compare the small server with the bundled one, case by case: both do the same."""

# Each case says what is received at each step, and what is shown at its end; whatever else is shown
# must be equal on both. What the rules leave free is not in these cases.

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from purgatory_conformance.running.case_run import CaseVerdict, run_case
from purgatory_conformance.specimens.small.channel_muting import small_server_subject
from purgatory_conformance.specimens.wrong.recovering import newcomer_passes
from purgatory_conformance.subjects.bundled import bundled_subject
from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_spec import operations as op
from purgatory_spec.cases import read_case
from purgatory_spec.messages import Do, NewChannelMuting, Reply
from purgatory_spec.outcomes import Outcome, Value
from purgatory_spec.profiles import ChannelMutingConfiguration
from purgatory_spec.reasons import Reason
from purgatory_spec.resources import specification_folder
from tests.known_cases import known_cases

SUBJECTS = {"small": small_server_subject, "bundled": bundled_subject}
TEN = ChannelMutingConfiguration(10, 10)


@dataclass(frozen=True)
class Case:
    """``receives`` are the requests that are received, in their order; ``shows`` is the end."""

    title: str
    operations: tuple[op.Operation, ...]
    receives: tuple[str, ...]
    shows: dict[str, Value]
    configuration: ChannelMutingConfiguration
    transports: tuple[str, ...]


def cases() -> Iterator[Case]:
    """Yield the cases of the file: a line for each, and behind it its operations."""
    for title, head, lines in known_cases(Path(__file__).with_name("servers.jsonl")):
        yield Case(
            title,
            tuple(msgspec.json.decode(line, type=op.Operation) for line in lines),
            tuple(head["receives"]),
            {
                key: tuple(each) if isinstance(each, list) else each
                for key, each in head["shows"].items()
            },
            msgspec.convert(head["configuration"], ChannelMutingConfiguration),
            tuple(head.get("transports", ("plain", "TLS"))),
        )


CASES = tuple(cases())
RUNS = [(case, transport) for case in CASES for transport in case.transports]


def carried_out(
    subject: InProcessSubject,
    configuration: ChannelMutingConfiguration,
    operations: tuple[op.Operation, ...],
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
    ("case", "transport"), RUNS, ids=[f"{case.title}, {transport}" for case, transport in RUNS]
)
def test_both_servers_do_the_same(case: Case, transport: str) -> None:
    configuration = msgspec.structs.replace(case.configuration, tls=transport == "TLS")
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
    wrong = carried_out(small_server_subject(newcomer_passes), case.configuration, case.operations)
    assert wrong != carried_out(small_server_subject(), case.configuration, case.operations)


def example_of_the_protocol() -> list[tuple[bytes, bytes]]:
    """The requests of the page's example, each with its reply."""
    page = (specification_folder() / "protocol.md").read_text(encoding="utf-8")
    block = page.partition("### Operations on a server")[2].partition("```json\n")[2]
    lines = block.partition("```")[0].encode().splitlines()
    return list(zip(lines[::2], lines[1::2], strict=True))


@pytest.mark.parametrize("make", SUBJECTS.values(), ids=SUBJECTS)
def test_the_example_of_the_protocol(make: Callable[[], InProcessSubject]) -> None:
    """The replies are those of the page, as far as these go."""
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
        *(op.Construct(10, 10), op.Construct(0, 10), op.Construct(9, 10), op.Construct(10, 0)),
        *(
            op.Poll(),
            op.Announce("c9", 1, 5),
            op.Release("c9#1"),
            op.PollWhile("c9#1"),
            op.Respond("c9"),
        ),
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
    for case, transport in RUNS:
        configuration = msgspec.structs.replace(case.configuration, tls=transport == "TLS")
        carried_out(bundled_subject(), configuration, case.operations)
    assert len(list(descriptors.iterdir())) == before


def test_what_a_server_cannot_be_asked() -> None:
    """Given both servers: the small one does not support it, and the bundled one says so loudly."""
    (outcome,) = carried_out(small_server_subject(), TEN, (op.Add("a", 1),))
    assert outcome.rejected is Reason.UNSUPPORTED
    with pytest.raises(ValueError, match="no such operation"):
        carried_out(bundled_subject(), TEN, (op.Add("a", 1),))


def test_an_end_behind_small_records_is_seen_in_the_same_step() -> None:
    """The step ends when no channel waits for its next turn, not when two polls bring nothing."""
    case = read_case(Path(__file__).with_name("an-end-behind-small-records.jsonl"))
    run = run_case(bundled_subject(), case.header.case, case.header.configuration, case.operations)
    assert run.verdict is CaseVerdict.PASS, run.divergence
    assert len(run.steps) == len(case.operations) == 18
