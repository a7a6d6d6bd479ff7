"""Requests to an adapter and its replies: encoding, strict decoding, outcomes."""

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from purgatory_conformance.subjects.fault import Fault
from purgatory_conformance.subjects.profile_rules import problem_of
from purgatory_conformance.subjects.subject import FailureKind
from purgatory_conformance.version import SUITE_VERSION
from purgatory_judge.components import PROFILES
from purgatory_spec.jsonlines import InvalidDocument, decode_line, encode_line
from purgatory_spec.messages import (
    PROTOCOL_VERSION,
    Hello,
    Implementation,
    Reply,
    schema_digest,
)
from purgatory_spec.misspelt import suggestion
from purgatory_spec.outcomes import Value
from purgatory_spec.profiles import LARGEST_LONG, Component, Profile, TimerProfile

RECEIVED_CHARACTERS = 500
"""The most characters of a wrong reply that a failure shows."""

_SIXTEEN_DIGITS = re.compile(rb"[0-9]{16}")

_NINETEEN_DIGITS = re.compile(rb"[0-9]{19}")

_REPLY_DECODER = msgspec.json.Decoder(Reply)

_ENCODER = msgspec.json.Encoder()

_LIKENESS = 0.8
"""The likeness from which on an unknown name is a slip of the name of one of our components."""


Document = TypeVar("Document")


def hello(identity: int) -> Hello:
    """Return the first request to any adapter."""
    return Hello(identity, PROTOCOL_VERSION, SUITE_VERSION, schema_digest())


def encode_request(request: msgspec.Struct | Mapping[str, object]) -> bytes:
    """Return the request as one line of JSON with its newline; large integers become strings."""
    line = _ENCODER.encode(request)
    if _SIXTEEN_DIGITS.search(line):
        line = encode_line(request).encode()
    return line + b"\n"


def decode_reply(line: bytes) -> Reply:
    """Return the reply that a line holds, as strictly as ``decode_line`` reads it, but faster.

    A line has at least one colon for each key that it gives. Where it has no more of them than the
    reply has fields, no key was given twice and nothing unknown is nested in it.

    Raises:
        Fault: the line is no reply.
    """
    try:
        reply = _REPLY_DECODER.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    else:
        if line.count(b":") == _fields_given(reply) and not _NINETEEN_DIGITS.search(line):
            return reply
    reply = _decode(line, Reply)
    _refuse_wide_integers(_integers(reply))
    return reply


def _fields_given(reply: Reply) -> int:
    """Return the number of keys of the shortest line that holds a reply to ``do``."""
    count = 1
    if reply.observed:
        count += 1 + len(reply.observed)
    if reply.events:
        count += 1
        for event in reply.events:
            count += 2 + (event.reason is not None) + (event.at_ms is not None)
    if reply.result is not None:
        count += 1
    if reply.rejected is not None:
        count += 1
    if reply.detail:
        count += 1
    if reply.called_ms is not None:
        count += 1
    if reply.returned_ms is not None:
        count += 1
    return count


def _decode(line: bytes, kind: type[Document]) -> Document:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise Fault(FailureKind.GARBAGE, "the line is not UTF-8; write replies in UTF-8") from error
    if not text.strip():
        raise Fault(FailureKind.GARBAGE, f"an empty line is no reply; {_REPLIES_ALONE}")
    if text.startswith("\ufeff"):
        problem = "the line begins with a byte order mark; write UTF-8 without it"
        raise Fault(FailureKind.GARBAGE, problem)
    try:
        document = decode_line(text, kind)
        _ENCODER.encode(document)  # refuses halves of surrogate pairs, which are no UTF-8
    except InvalidDocument as error:
        raise _fault_of(error, text) from error
    except UnicodeEncodeError as error:
        problem = "a string holds half of a surrogate pair; write well-formed text"
        raise Fault(FailureKind.WRONG_TYPES, problem) from error
    return document


def _integers(reply: Reply) -> Iterator[Value]:
    yield from (reply.result, reply.called_ms, reply.returned_ms)
    yield from reply.observed.values()
    yield from (event.at_ms for event in reply.events)


def _refuse_wide_integers(values: Iterable[Value]) -> None:
    for integer in values:
        if isinstance(integer, int) and not -LARGEST_LONG - 1 <= integer <= LARGEST_LONG:
            raise Fault(
                FailureKind.WRONG_TYPES,
                f"the integer {integer} has more than 64 bits; no time and no count is that large",
            )


_REPLIES_ALONE = (
    "write one line for each reply to standard output and nothing else; "
    "banners and logs belong on standard error"
)


def _fault_of(error: InvalidDocument, text: str) -> Fault:
    if isinstance(error.__cause__, RecursionError) or error.problem.startswith("nested more than"):
        return Fault(FailureKind.TOO_DEEP, f"the line is {error.problem}; a reply needs 4 levels")
    if isinstance(error.__cause__, json.JSONDecodeError) or not text.lstrip().startswith("{"):
        problem = f"the line is no JSON object ({error.problem}); {_REPLIES_ALONE}"
        return Fault(FailureKind.GARBAGE, problem)
    problem = _wrong_observable(text) if "`$.observed[" in error.problem else ""
    return Fault(
        FailureKind.WRONG_TYPES,
        f"{problem or error.problem}; compare the reply with the tables of the protocol",
    )


def _wrong_observable(text: str) -> str:
    """Return the observable whose type no observable has, in a sentence."""
    for name, value in json.loads(text)["observed"].items():
        try:
            decode_line(json.dumps({name: value}), dict[str, Value])
        except InvalidDocument:
            received = json.dumps(value)[:RECEIVED_CHARACTERS]
            return (
                f"the observable '{name}' is {received}; "
                "an observable is an integer, true, false or null"
            )
    return ""


def shown(line: bytes) -> str:
    """Return the beginning of a line, as text for a report."""
    text = line[: 4 * RECEIVED_CHARACTERS].decode(errors="replace")
    return text[:RECEIVED_CHARACTERS].rstrip("\r\n")


class _HelloReply(msgspec.Struct, frozen=True):
    """The reply to ``hello`` before its version is known: a later one may say anything else."""

    id: int
    protocol: object = None
    implementation: object = None
    components: object = None
    unsupported: str = ""
    error: str = ""


@dataclass(frozen=True)
class Greeting:
    """The adapter's answer to ``hello``: its implementation and its profiles."""

    id: int
    implementation: Implementation
    profiles: Mapping[Component, Profile]


def decode_greeting(line: bytes) -> Greeting:
    """Return the greeting in a reply to ``hello``; unknown components are passed over.

    Raises:
        Fault: the line is no reply, speaks another version, offers no component of ours, misspells
            one, or declares what no component is judged by.
    """
    try:
        reply = _decode(line, _HelloReply)
    except Fault as fault:
        if fault.kind is FailureKind.GARBAGE:
            raise Fault(FailureKind.BANNER, fault.explanation) from fault
        raise
    if reply.error or reply.unsupported:
        sentence = reply.error or reply.unsupported
        raise Fault(FailureKind.ERRORED, f"it answered 'hello' with: {sentence}")
    if type(reply.protocol) is not int or reply.protocol != PROTOCOL_VERSION:
        raise Fault(
            FailureKind.VERSION,
            f"its 'protocol' is {json.dumps(reply.protocol)}, the suite's is {PROTOCOL_VERSION}; "
            "use an adapter and a suite of one version",
        )
    components = _part("components", reply.components or {}, dict[str, object])
    profiles = _profiles(components)
    implementation = _part("implementation", reply.implementation, Implementation)
    return Greeting(reply.id, implementation, profiles)


def _profiles(components: Mapping[str, object]) -> Mapping[Component, Profile]:
    """Return the profiles of those components that the suite knows."""
    for name in components:
        _refuse_misspelt(name)
    profiles = {
        component: _part(f"components.{component.value}", components[component.value], kind)
        for component, kind in PROFILES.items()
        if component.value in components
    }
    if not profiles:
        offered = ", ".join(map(repr, components)) or "nothing"
        known = " or ".join(repr(component.value) for component in PROFILES)
        raise Fault(
            FailureKind.NO_COMPONENT,
            f"its 'components' offer {offered}, not {known}; "
            f'declare at least one of them, for example "components":{{"timer":{{}}}}',
        )
    for profile in profiles.values():
        if isinstance(profile, TimerProfile):
            _refuse_wide_integers((profile.largest_delay_ms, profile.lateness_ms))
        problem = problem_of(profile)
        if problem:
            raise Fault(FailureKind.WRONG_TYPES, problem)
    return profiles


def _refuse_misspelt(name: str) -> None:
    """Refuse a name that is nearly that of a component: to pass it over would hide the slip."""
    known = [component.value for component in PROFILES]
    if name in known:
        return
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    near = difflib.get_close_matches(plain, known, n=1, cutoff=_LIKENESS)
    if near:
        problem = f"'{name}' is no component; did you mean '{near[0]}'?"
        raise Fault(FailureKind.NO_COMPONENT, problem)


def _part(where: str, value: object, kind: type[Document]) -> Document:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        advice = suggestion(error, kind)
        raise Fault(
            FailureKind.WRONG_TYPES,
            f"{error} of '{where}'; compare the reply with the table of profiles in the protocol"
            f"{advice}",
        ) from error
