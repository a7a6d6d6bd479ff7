"""Cases: a sequence of steps with what came of them, as a value and as a JSON Lines file.

One file holds one case. Its first line is the header, every further line a step:
an operation and, where it was recorded, its outcome. A golden vector, a failing case and its
replay file are all this.
"""

import json
import re
from pathlib import Path
from typing import TypeAlias

import msgspec

from purgatory_spec import profiles
from purgatory_spec.jsonlines import InvalidDocument, decode_line, encode_line, read_text
from purgatory_spec.nearest import did_you_mean
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome

CASE_FORMAT = 1
"""Version of the file format; a reader rejects any other."""


class Step(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An operation and its outcome; the outcome is absent where none was recorded."""

    operation: Operation
    outcome: Outcome | None = None


class _Header(
    msgspec.Struct,
    frozen=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="component",
    kw_only=True,
):
    """The fields of every case's header; ``component`` tells which component it is for."""

    case: str
    title: str = ""
    rules: tuple[str, ...] = ()
    subject: str = ""
    origin: str = ""
    breaks: str = ""
    """The rule that the recorded outcomes break; empty for a golden vector."""
    variant: str = ""
    """The model variant that the recorded subject follows; empty for a golden vector."""
    others_allowed: bool = False
    """True if the profile allows other outcomes than the recorded ones, at some step of a vector.

    Without it, the recorded outcome of each step of a golden vector is the only one.
    """
    format: int = CASE_FORMAT


class TimerCaseHeader(_Header, frozen=True, tag=profiles.Component.TIMER.value, kw_only=True):
    """The subject of a timer's case and the conditions under which it was recorded."""

    configuration: profiles.TimerConfiguration = profiles.TimerConfiguration()
    profile: profiles.TimerProfile = profiles.TimerProfile()


class PurgatoryCaseHeader(
    _Header, frozen=True, tag=profiles.Component.PURGATORY.value, kw_only=True
):
    """The subject of a purgatory's case and the conditions under which it was recorded."""

    configuration: profiles.PurgatoryConfiguration = profiles.PurgatoryConfiguration()
    profile: profiles.PurgatoryProfile = profiles.PurgatoryProfile()


class MemoryPoolCaseHeader(
    _Header, frozen=True, tag=profiles.Component.MEMORY_POOL.value, kw_only=True
):
    """The subject of a memory pool's case and the conditions under which it was recorded."""

    configuration: profiles.MemoryPoolConfiguration = profiles.MemoryPoolConfiguration()
    profile: profiles.MemoryPoolProfile = profiles.MemoryPoolProfile()


class ChannelMutingCaseHeader(
    _Header, frozen=True, tag=profiles.Component.CHANNEL_MUTING.value, kw_only=True
):
    """The subject of a channel-muting case and the conditions under which it was recorded."""

    configuration: profiles.ChannelMutingConfiguration = profiles.ChannelMutingConfiguration()
    profile: profiles.ChannelMutingProfile = profiles.ChannelMutingProfile()


CaseHeader: TypeAlias = (
    TimerCaseHeader | PurgatoryCaseHeader | MemoryPoolCaseHeader | ChannelMutingCaseHeader
)
"""The first line of a case file."""


def case_header(
    case: str,
    configuration: profiles.Configuration,
    profile: profiles.Profile,
    *,
    title: str = "",
    rules: tuple[str, ...] = (),
    subject: str = "",
    breaks: str = "",
) -> CaseHeader:
    """Return the header of a case of the component that configuration and profile belong to.

    Raises:
        ValueError: they belong to two components.
    """
    if isinstance(configuration, profiles.TimerConfiguration) and isinstance(
        profile, profiles.TimerProfile
    ):
        return TimerCaseHeader(
            case=case,
            title=title,
            configuration=configuration,
            profile=profile,
            rules=rules,
            subject=subject,
            breaks=breaks,
        )
    if isinstance(configuration, profiles.PurgatoryConfiguration) and isinstance(
        profile, profiles.PurgatoryProfile
    ):
        return PurgatoryCaseHeader(
            case=case,
            title=title,
            configuration=configuration,
            profile=profile,
            rules=rules,
            subject=subject,
            breaks=breaks,
        )
    if isinstance(configuration, profiles.MemoryPoolConfiguration) and isinstance(
        profile, profiles.MemoryPoolProfile
    ):
        return MemoryPoolCaseHeader(
            case=case,
            title=title,
            configuration=configuration,
            profile=profile,
            rules=rules,
            subject=subject,
            breaks=breaks,
        )
    if isinstance(configuration, profiles.ChannelMutingConfiguration) and isinstance(
        profile, profiles.ChannelMutingProfile
    ):
        return ChannelMutingCaseHeader(
            case=case,
            title=title,
            configuration=configuration,
            profile=profile,
            rules=rules,
            subject=subject,
            breaks=breaks,
        )
    raise ValueError(
        f"the configuration is that of a {profiles.component_of(configuration).value}, "
        f"the profile that of a {profiles.component_of(profile).value}"
    )


class Case(msgspec.Struct, frozen=True):
    """A header and the steps that belong to it."""

    header: CaseHeader
    steps: tuple[Step, ...]

    @property
    def operations(self) -> tuple[Operation, ...]:
        """Return the operations alone: the artefact that reproduces the case."""
        return tuple(step.operation for step in self.steps)

    @property
    def component(self) -> profiles.Component:
        """Return the component that the case is about."""
        return profiles.component_of(self.header.configuration)


_ANY_HEADER: type[CaseHeader] = CaseHeader  # type: ignore[assignment]


def encode_case(case: Case) -> str:
    """Return the case as the text of a JSON Lines file, ended by a newline."""
    lines = [encode_line(case.header), *(encode_line(step) for step in case.steps)]
    return "\n".join(lines) + "\n"


def decode_case(text: str, source: str = "<text>") -> Case:
    """Return the case that a JSON Lines text holds.

    Raises:
        InvalidDocument: names the source, the line and what is wrong with it.
    """
    lines = text.split("\n")  # not splitlines, which also splits at characters inside strings
    if not text.strip():
        raise InvalidDocument(source, 1, "the file is empty; its first line must be the header")
    header: CaseHeader = decode_line(lines[0], _ANY_HEADER, source, 1)
    if header.format != CASE_FORMAT:
        raise InvalidDocument(
            source, 1, f"format {header.format} is not supported, only {CASE_FORMAT}"
        )
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", header.case):
        raise InvalidDocument(source, 1, f"case name {header.case!r} is not a plain word")
    steps = tuple(
        _step(line, source, number)
        for number, line in enumerate(lines[1:], start=2)
        if line.strip()
    )
    return Case(header, steps)


def _step(line: str, source: str, number: int) -> Step:
    """Return the step of a line.

    Between a suite and an adapter of another version unknown fields are ignored. In a case that
    somebody has written they are mistakes, and the case would test something else.
    """
    step = decode_line(line, Step, source, number)
    fields = ("op", *step.operation.__struct_fields__)
    for name in json.loads(line)["operation"]:
        if name not in fields:
            allowed = f"allowed are {', '.join(map(repr, fields))}"
            hint = did_you_mean(name, fields, allowed)
            problem = f"Object contains unknown field `{name}` - at `$.operation`; {hint}"
            raise InvalidDocument(source, number, problem)
    return step


def read_case(path: Path) -> Case:
    """Return the case in a file; raises ``InvalidDocument`` where the file is not one."""
    return decode_case(read_text(path), str(path))
