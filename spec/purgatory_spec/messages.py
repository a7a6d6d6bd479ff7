"""The messages between runner and adapter, one JSON object per line (``spec/protocol.md``)."""

import hashlib
import inspect
import json
from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

import msgspec

from purgatory_spec import profiles
from purgatory_spec.cases import CaseHeader, Step
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Event, Outcome, Value
from purgatory_spec.reasons import Reason

PROTOCOL_VERSION = 1
"""Version of the protocol; runner and adapter must agree on it."""


class Hello(msgspec.Struct, frozen=True, tag_field="request", tag="hello"):
    """The first request: who is there, and what does it implement?"""

    id: int
    protocol: int
    suite: str
    schema: str


class NewTimer(msgspec.Struct, frozen=True, tag_field="request", tag="new", kw_only=True):
    """Make a fresh timer; it replaces the instance before, of whatever component."""

    id: int
    component: Literal["timer"] = "timer"
    case: str
    configuration: profiles.TimerConfiguration


class NewPurgatory(msgspec.Struct, frozen=True, tag_field="request", tag="new", kw_only=True):
    """Make a fresh purgatory; it replaces the instance before, of whatever component."""

    id: int
    component: Literal["purgatory"] = "purgatory"
    case: str
    configuration: profiles.PurgatoryConfiguration


class NewMemoryPool(msgspec.Struct, frozen=True, tag_field="request", tag="new", kw_only=True):
    """Make a fresh memory pool; it replaces the instance before, of whatever component."""

    id: int
    component: Literal["memory_pool"] = "memory_pool"
    case: str
    configuration: profiles.MemoryPoolConfiguration


class NewChannelMuting(msgspec.Struct, frozen=True, tag_field="request", tag="new", kw_only=True):
    """Make a fresh server without connections; it replaces the instance before."""

    id: int
    component: Literal["channel_muting"] = "channel_muting"
    case: str
    configuration: profiles.ChannelMutingConfiguration


New: TypeAlias = NewTimer | NewPurgatory | NewMemoryPool | NewChannelMuting
"""Make a fresh instance of a component."""


def new(number: int, case: str, configuration: profiles.Configuration) -> New:
    """Return the request for a fresh instance of the configuration's component."""
    if isinstance(configuration, profiles.TimerConfiguration):
        return NewTimer(id=number, case=case, configuration=configuration)
    if isinstance(configuration, profiles.PurgatoryConfiguration):
        return NewPurgatory(id=number, case=case, configuration=configuration)
    if isinstance(configuration, profiles.MemoryPoolConfiguration):
        return NewMemoryPool(id=number, case=case, configuration=configuration)
    return NewChannelMuting(id=number, case=case, configuration=configuration)


class Do(msgspec.Struct, frozen=True, tag_field="request", tag="do"):
    """Carry out one operation on the instance."""

    id: int
    operation: Operation


class End(msgspec.Struct, frozen=True, tag_field="request", tag="end"):
    """Drop the instance and release all that it holds."""

    id: int


class Stop(msgspec.Struct, frozen=True, tag_field="request", tag="stop"):
    """Leave; there is no reply."""

    id: int


class Implementation(msgspec.Struct, frozen=True, omit_defaults=True):
    """The implementation that a report is about."""

    name: str
    version: str = ""
    language: str = ""
    runtime: str = ""
    source: str = ""
    issues: str = ""


class Components(msgspec.Struct, frozen=True, omit_defaults=True):
    """The components that a subject offers, each with its profile."""

    timer: profiles.TimerProfile | None = None
    purgatory: profiles.PurgatoryProfile | None = None
    memory_pool: profiles.MemoryPoolProfile | None = None
    channel_muting: profiles.ChannelMutingProfile | None = None


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """The one answer to a request; fields that a request does not ask for stay away.

    ``unsupported`` and ``error`` are sentences for people: the adapter does not offer this, or
    the adapter itself failed. A rejection by the implementation is ``rejected``, not ``error``.
    """

    id: int
    protocol: int | None = None
    implementation: Implementation | None = None
    components: Components = Components()
    result: Value = None
    rejected: Reason | None = None
    events: tuple[Event, ...] = ()
    observed: Mapping[str, Value] = {}
    detail: str = ""
    called_ms: int | None = None
    returned_ms: int | None = None
    unsupported: str = ""
    error: str = ""

    @property
    def outcome(self) -> Outcome:
        """Return the outcome that a reply to ``do`` carries."""
        return Outcome(
            result=self.result,
            rejected=self.rejected,
            events=self.events,
            observed=self.observed,
            detail=self.detail,
            called_ms=self.called_ms,
            returned_ms=self.returned_ms,
        )


def protocol_schema() -> dict[str, object]:
    """Return the JSON Schema (2020-12) of requests, replies and case files."""
    kinds = (Hello, *get_args(New), Do, End, Stop, Reply, *get_args(CaseHeader), Step)
    references, components = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    for component in components.values():
        # Python 3.13 and later strip the indentation of docstrings, earlier ones do not.
        component["description"] = inspect.cleandoc(component.get("description", ""))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "purgatory-spec protocol and case files",
        "version": PROTOCOL_VERSION,
        "anyOf": list(references),
        "$defs": dict(sorted(components.items())),
    }


def schema_text() -> str:
    """Return the schema as the text of ``spec/schema/protocol.schema.json``."""
    return json.dumps(protocol_schema(), indent=2, sort_keys=True) + "\n"


def schema_digest() -> str:
    """Return the SHA-256 of the schema's text, in hexadecimal: it tells two vocabularies apart."""
    return hashlib.sha256(schema_text().encode()).hexdigest()
