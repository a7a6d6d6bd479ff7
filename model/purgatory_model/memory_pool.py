"""The memory pool: what is granted, what is outstanding, when a dry spell begins and ends.

Theory of operation. A pool has a number of bytes. A grant takes the size of its buffer from what
is *available*; the release of that buffer, or its loss where leaks are detected, gives it back.
*Outstanding* are the buffers that were granted and not given back, each with its size, whatever
the pool believes. The first request that is refused begins a *dry spell*, the next grant or
accepted release ends it.

A pool that does not tell its own buffers from others (release validation ``none``) may credit
whatever it is given. The model follows it there, and what it then thinks to have available is no
longer what is left: that the two belong together is stated apart, as invariants, which are judged
under every profile.

Each way in which an operation may go names the rule of its effect on the pool, the rules of its
answer, and those of every observable.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec
from immutables import Map

from purgatory_model.memory_pool_arithmetic import are_sizes, is_granted, is_legal
from purgatory_model.replacing import replace
from purgatory_model.step import Expectation, accepted, possible
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Outcome, Value
from purgatory_spec.profiles import (
    MemoryPoolConfiguration,
    MemoryPoolObservable,
    MemoryPoolProfile,
    ReleaseValidation,
    ZeroRequest,
)
from purgatory_spec.reasons import Reason


class MemoryPoolState(msgspec.Struct, frozen=True):
    """Everything that the future of a pool depends on.

    ``held`` are the outstanding buffers by name, each with its size in bytes; ``returned`` those
    that were given back; ``filled`` what buffers were filled with. ``spell_began_ms`` is the
    clock's reading at the refusal that began the dry spell under way, None where there is none.
    """

    available_bytes: int
    held: Map[str, int] = Map()
    returned: Map[str, int] = Map()
    filled: Map[str, int] = Map()
    now_ms: int = 0
    spell_began_ms: int | None = None
    depleted_spells: int = 0
    depleted_ms: int = 0

    @property
    def outstanding_bytes(self) -> int:
        """Return the bytes of all buffers that were granted and not given back."""
        return sum(self.held.values())


def credited(state: MemoryPoolState, size_bytes: int) -> MemoryPoolState:
    """Return the state with more bytes available. Rules: POOL-RELEASE, POOL-CONSERVATION."""
    return replace(state, available_bytes=state.available_bytes + size_bytes)


def with_spell(state: MemoryPoolState) -> MemoryPoolState:
    """Return the state in a dry spell, which a refusal begins. Rules: POOL-SPELL-BEGINS."""
    if state.spell_began_ms is not None:
        return state
    return replace(state, spell_began_ms=state.now_ms)


def without_spell(state: MemoryPoolState) -> MemoryPoolState:
    """Return the state without the dry spell under way, if there is one.

    Rules: POOL-SPELL-ENDS, POOL-DEPLETED-TIME.
    """
    if state.spell_began_ms is None:
        return state
    return replace(
        state,
        spell_began_ms=None,
        depleted_spells=state.depleted_spells + 1,
        depleted_ms=state.depleted_ms + state.now_ms - state.spell_began_ms,
    )


def at(state: MemoryPoolState, to_ms: int) -> MemoryPoolState:
    """Return the state at ``to_ms``; raises ``ValueError`` where the clock would go back."""
    if to_ms < state.now_ms:
        raise ValueError(f"the clock reads {state.now_ms} and cannot go back to {to_ms}")
    return replace(state, now_ms=to_ms)


VARIANTS: Mapping[str, str] = {
    "credits_anything": "whatever is released is credited by its size, so that the pool may grow",
}
"""The variants by name, each with a sentence: what pools do that are known to break a rule."""

Why = Mapping[str, tuple[str, ...]]
"""The rules that the parts of an expectation follow from; see ``Expectation``."""

_BOUNDED: Why = {
    MemoryPoolObservable.AVAILABLE: ("POOL-CONSERVATION",),
    MemoryPoolObservable.USED: ("POOL-USED",),
    MemoryPoolObservable.SIZE: ("POOL-SIZE",),
    MemoryPoolObservable.OUT_OF_MEMORY: ("POOL-OUT-OF-MEMORY",),
    MemoryPoolObservable.DEPLETED_SPELLS: ("POOL-SPELL-BEGINS",),
    MemoryPoolObservable.DEPLETED_TIME: ("POOL-DEPLETED-TIME",),
    "always": ("POOL-CONSERVATION",),
}
_IN_SPELL: Why = {
    **_BOUNDED,
    MemoryPoolObservable.DEPLETED_SPELLS: ("POOL-SPELL-ENDS", "POOL-SPELL-BEGINS"),
}
_REFUSAL: Why = {
    MemoryPoolObservable.DEPLETED_SPELLS: ("POOL-SPELL-BEGINS",),
    "rejected": ("POOL-REFUSAL",),
}
_READ: Why = {"result": ("POOL-OWN-MEMORY",)}
_UNBOUNDED: Why = {"always": ("POOL-UNBOUNDED-GRANTS",)}

_OTHER_FORMS = {
    op.ReleaseForm.SLICE: "POOL-RELEASE-SLICE",
    op.ReleaseForm.COPY: "POOL-RELEASE-COPY",
}

_EXCUSED = frozenset({"POOL-CONSERVATION", "POOL-BOUND"})


def rule_of_admission(configuration: MemoryPoolConfiguration) -> str:
    """Return the rule that says which requests of a legal size are granted."""
    if configuration.unbounded:
        return "POOL-UNBOUNDED-GRANTS"
    return "POOL-STRICT" if configuration.strict else "POOL-NON-STRICT"


def rule_of_illegal(size_bytes: int) -> str:
    """Return the rule that says that a request of an illegal size is an error."""
    if size_bytes > 0:
        return "POOL-OVERSIZE-REQUEST"
    return "POOL-NEGATIVE-REQUEST" if size_bytes < 0 else "POOL-ZERO-REQUEST"


@dataclass(frozen=True, slots=True)
class MemoryPoolModel:
    """A memory pool of a configuration and a profile, which may follow some variants."""

    configuration: MemoryPoolConfiguration
    profile: MemoryPoolProfile
    variants: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Reject the name of an unknown variant."""
        unknown = self.variants - VARIANTS.keys()
        if unknown:
            raise ValueError(f"there is no variant {min(unknown)!r}")

    @property
    def knows_its_own(self) -> bool:
        """Decide whether the pool must tell its own buffers from others."""
        by_identity = self.profile.release_validation is ReleaseValidation.IDENTITY
        return by_identity and "credits_anything" not in self.variants

    @property
    def excused(self) -> frozenset[str]:
        """Return the rules whose invariants are not asked of a pool that follows the variants."""
        return _EXCUSED if "credits_anything" in self.variants else frozenset()

    def may_refuse(self, available_bytes: int, size_bytes: int) -> bool:
        """Decide whether a pool with a bound may answer "no buffer" to a request.

        Rules: POOL-STRICT, POOL-NON-STRICT, POOL-ZERO-REQUEST.
        """
        strict, means = self.configuration.strict, self.profile.zero_request
        if size_bytes == 0:
            is_dry = available_bytes <= 0 and not strict
            return means is ZeroRequest.REFUSE or (means is ZeroRequest.GRANT and is_dry)
        legal = is_legal(size_bytes, self.configuration.max_single_bytes)
        return legal and not is_granted(available_bytes, size_bytes, strict)

    def initial(self) -> MemoryPoolState:
        """Return the state of a pool that was just made."""
        return MemoryPoolState(self.configuration.size_bytes)

    def accept(
        self, state: MemoryPoolState, operation: op.Operation, outcome: Outcome
    ) -> frozenset[MemoryPoolState]:
        """Return the states after an observed outcome of the pool; empty means divergence."""
        return accepted(self.expectations(state, operation), outcome)

    def successors(
        self, state: MemoryPoolState, operation: op.Operation
    ) -> Iterator[tuple[Outcome, MemoryPoolState]]:
        """Yield every outcome of an operation with the state after it."""
        return possible(self.expectations(state, operation))

    def expectations(
        self, state: MemoryPoolState, operation: op.Operation
    ) -> tuple[Expectation[MemoryPoolState], ...]:
        """Return the ways in which an operation may go.

        Raises:
            ValueError: the clock would go back, or the operation is none of a memory pool.

        Rules: POOL-CONSTRUCT, POOL-RELEASE-NOTHING, POOL-UNBOUNDED-RELEASE, POOL-OWN-MEMORY.
        """
        match operation:
            case op.Allocate(fail=True) if not self.configuration.unbounded:
                return self._allocate_in_vain(state, operation)
            case op.Allocate(buffer, size_bytes):
                if size_bytes == 0 and not self.configuration.unbounded:
                    return self._allocate_nothing(state, buffer)
                return (self._allocate(state, buffer, size_bytes),)
            case op.Release(buffer, form):
                return self._release(state, buffer, form)
            case op.ReleaseForeign(size_bytes):
                return self._release_other(state, size_bytes, "POOL-RELEASE-FOREIGN")
            case op.ReleaseNothing() if not self.configuration.unbounded:
                return (self._rejected(state, "POOL-RELEASE-NOTHING"),)
            case op.ReleaseNothing():
                return (self._way(state, state, "POOL-UNBOUNDED-RELEASE"),)
            case op.Lose(buffer) | op.Fill(buffer) | op.Read(buffer) if buffer not in state.held:
                return (self._rejected(state, reason=Reason.UNKNOWN_NAME),)
            case op.Lose(buffer):
                return self._lose(state, buffer)
            case op.Fill(buffer, value):
                return (self._way(state, replace(state, filled=state.filled.set(buffer, value))),)
            case op.Read(buffer):
                written = state.filled.get(buffer) if state.held[buffer] > 0 else None
                return (self._way(state, state, why=_READ, result=written),)
            case op.Construct(size_bytes, most_bytes) if are_sizes(size_bytes, most_bytes):
                return (self._way(state, state, "POOL-CONSTRUCT"),)
            case op.Construct():
                return (self._rejected(state, "POOL-CONSTRUCT"),)
            case op.Elapse(to_ms):
                return (self._way(state, at(state, to_ms)),)
            case _:
                raise ValueError(f"a memory pool has no operation {op.operation_name(operation)}")

    def observe(
        self, state: MemoryPoolState, granted_bytes: int | None = None
    ) -> Mapping[str, Value]:
        """Return the declared observables by name, after a step that granted a buffer, or none.

        Of an unbounded pool, size and available are free.

        Rules: POOL-OUT-OF-MEMORY, POOL-USED, POOL-SIZE, POOL-EXACT-BUFFER, POOL-UNBOUNDED-GRANTS.
        """
        unbounded = self.configuration.unbounded
        size_bytes = self.configuration.size_bytes
        values: dict[MemoryPoolObservable, Value] = {
            MemoryPoolObservable.BUFFER: granted_bytes,
            MemoryPoolObservable.AVAILABLE: state.available_bytes,
            MemoryPoolObservable.SIZE: size_bytes,
            MemoryPoolObservable.USED: 0 if unbounded else size_bytes - state.available_bytes,
            MemoryPoolObservable.OUT_OF_MEMORY: not unbounded and state.available_bytes <= 0,
            MemoryPoolObservable.DEPLETED_SPELLS: state.depleted_spells,
            MemoryPoolObservable.DEPLETED_TIME: state.depleted_ms,
        }
        if unbounded:
            del values[MemoryPoolObservable.AVAILABLE], values[MemoryPoolObservable.SIZE]
        declared = self.profile.observables
        return {name.value: value for name, value in values.items() if name in declared}

    def _allocate(
        self, state: MemoryPoolState, buffer: str, size_bytes: int
    ) -> Expectation[MemoryPoolState]:
        """Return the ways of a request for a buffer.

        Rules: POOL-NEGATIVE-REQUEST, POOL-OVERSIZE-REQUEST, POOL-REFUSAL, POOL-STRICT,
        POOL-NON-STRICT, POOL-SPELL-BEGINS, POOL-UNBOUNDED-GRANTS, POOL-UNBOUNDED-NEGATIVE.
        """
        admission = (rule_of_admission(self.configuration),)
        if self.configuration.unbounded:
            if size_bytes < 0:
                return self._rejected(state, "POOL-UNBOUNDED-NEGATIVE")
            return self._grant(state, buffer, size_bytes, 0, {"result": admission})
        most_bytes = self.configuration.max_single_bytes
        if not is_legal(size_bytes, most_bytes):
            return self._rejected(state, rule_of_illegal(size_bytes))
        if self.may_refuse(state.available_bytes, size_bytes):
            why = {**_REFUSAL, "result": admission}
            return self._way(state, with_spell(state), "POOL-REFUSAL", why=why, result=False)
        why = {"result": admission, MemoryPoolObservable.BUFFER: ("POOL-EXACT-BUFFER",)}
        if size_bytes == most_bytes:
            why["rejected"] = ("POOL-OVERSIZE-REQUEST",)
        return self._grant(state, buffer, size_bytes, size_bytes, why)

    def _allocate_nothing(
        self, state: MemoryPoolState, buffer: str
    ) -> tuple[Expectation[MemoryPoolState], ...]:
        """Ask for a buffer of no bytes; whether this begins or ends a dry spell is free.

        Rules: POOL-ZERO-REQUEST.
        """
        rule, means = "POOL-ZERO-REQUEST", self.profile.zero_request
        if means in (ZeroRequest.REJECT, ZeroRequest.NOT_OFFERED):
            return (self._rejected(state, rule),)
        why = {"rejected": (rule,), "result": (rule,)}
        ways: list[Expectation[MemoryPoolState]] = []
        if means is ZeroRequest.GRANT:
            granted = replace(state, held=state.held.set(buffer, 0))
            buffer_why = {**why, MemoryPoolObservable.BUFFER: ("POOL-EXACT-BUFFER",)}
            ways += [
                self._way(state, after, rule, why=buffer_why, result=True, granted_bytes=0)
                for after in self._either(without_spell(granted), granted)
            ]
        if self.may_refuse(state.available_bytes, 0):
            ways += [
                self._way(state, after, rule, why=why, result=False)
                for after in self._either(with_spell(state), state)
            ]
        return tuple(ways)

    def _allocate_in_vain(
        self, state: MemoryPoolState, request: op.Allocate
    ) -> tuple[Expectation[MemoryPoolState], ...]:
        """Ask for a buffer while the machine has no memory; a pool may have some in reserve.

        Rules: POOL-ALLOCATION-FAILS.
        """
        ordinary = self.expectations(state, replace(request, fail=False))
        if ordinary[0].rejected is not None:
            return ordinary
        other = with_spell(state) if state.spell_began_ms is None else without_spell(state)
        failures = (
            self._way(state, after, "POOL-ALLOCATION-FAILS", result=result, rejected=rejected)
            for after in self._either(state, other)
            for result, rejected in ((None, Reason.NO_MEMORY), (False, None))
        )
        return (*failures, *ordinary)

    def _either(
        self, state: MemoryPoolState, other: MemoryPoolState
    ) -> tuple[MemoryPoolState, ...]:
        """Return two states that differ in the dry spell alone; one where no spell is shown."""
        return (state, other) if self._shows_spells and state != other else (state,)

    def _grant(
        self, state: MemoryPoolState, buffer: str, size_bytes: int, debit_bytes: int, why: Why
    ) -> Expectation[MemoryPoolState]:
        """Hand out a buffer. Rules: POOL-EXACT-BUFFER, POOL-CONSERVATION, POOL-SPELL-ENDS."""
        ended = without_spell(state)
        after = replace(
            ended,
            available_bytes=ended.available_bytes - debit_bytes,
            held=ended.held.set(buffer, size_bytes),
        )
        return self._way(state, after, why=why, result=True, granted_bytes=size_bytes)

    def _release(
        self, state: MemoryPoolState, buffer: str, form: op.ReleaseForm
    ) -> tuple[Expectation[MemoryPoolState], ...]:
        """Give a buffer back, or something that looks like it.

        Rules: POOL-RELEASE, POOL-RELEASE-AGAIN, POOL-RELEASE-SLICE, POOL-RELEASE-COPY,
        POOL-UNBOUNDED-RELEASE.
        """
        is_held = buffer in state.held
        rule = _OTHER_FORMS.get(form, "POOL-RELEASE" if is_held else "POOL-RELEASE-AGAIN")
        size_bytes = state.held.get(buffer, state.returned.get(buffer))
        if size_bytes is None:
            return (self._rejected(state, reason=Reason.UNKNOWN_NAME),)
        if rule != "POOL-RELEASE":
            return self._release_other(state, size_bytes, rule)
        returned = replace(
            state, held=state.held.delete(buffer), returned=state.returned.set(buffer, size_bytes)
        )
        if self.configuration.unbounded:
            return (self._way(state, returned, "POOL-UNBOUNDED-RELEASE"),)
        taken_back = credited(returned, size_bytes)
        if size_bytes > 0:
            return (self._way(state, without_spell(taken_back), rule),)
        after = self._either(without_spell(taken_back), taken_back)
        return tuple(self._way(state, each, rule) for each in after)

    def _release_other(
        self, state: MemoryPoolState, size_bytes: int, rule: str
    ) -> tuple[Expectation[MemoryPoolState], ...]:
        """Give the pool a buffer that it has not granted, or has got back.

        Rules: POOL-RELEASE-FOREIGN, POOL-RELEASE-AGAIN, POOL-RELEASE-SLICE, POOL-RELEASE-COPY,
        POOL-UNBOUNDED-RELEASE.
        """
        if self.configuration.unbounded:
            return (self._way(state, state, "POOL-UNBOUNDED-RELEASE"),)
        ended = without_spell(state)
        if size_bytes == 0 and self.profile.zero_request is ZeroRequest.GRANT:
            ignored = (self._way(state, each) for each in self._either(ended, state))
            return (self._rejected(state), *ignored)
        if self.knows_its_own:
            return (self._rejected(state, rule),)
        taken = self._way(state, credited(ended, size_bytes))
        return (taken, self._rejected(state), self._way(state, ended))

    def _lose(
        self, state: MemoryPoolState, buffer: str
    ) -> tuple[Expectation[MemoryPoolState], ...]:
        """Drop a buffer without releasing it; whether this ends a dry spell is free.

        Rules: POOL-LEAK.
        """
        lost = replace(state, held=state.held.delete(buffer))
        if self.configuration.unbounded:
            return (self._way(state, lost),)
        found = credited(lost, state.held[buffer])
        return tuple(
            self._way(state, after, "POOL-LEAK")
            for after in self._either(found, without_spell(found))
        )

    @property
    def _shows_spells(self) -> bool:
        shown = {MemoryPoolObservable.DEPLETED_SPELLS, MemoryPoolObservable.DEPLETED_TIME}
        return bool(shown & self.profile.observables)

    def _rejected(
        self, state: MemoryPoolState, rule: str = "", reason: Reason = Reason.INVALID_ARGUMENT
    ) -> Expectation[MemoryPoolState]:
        return self._way(state, state, rule, rejected=reason)

    def _way(
        self,
        before: MemoryPoolState,
        after: MemoryPoolState,
        rule: str = "",
        *,
        why: Why = Map(),
        result: Value = None,
        rejected: Reason | None = None,
        granted_bytes: int | None = None,
    ) -> Expectation[MemoryPoolState]:
        """Return an allowed outcome; ``rule`` is the rule of the effect, if it has its own.

        Rules: POOL-CONSERVATION, POOL-UNBOUNDED-GRANTS.
        """
        rules = _BOUNDED if before.spell_began_ms is None else _IN_SPELL
        if self.configuration.unbounded:
            rules = _UNBOUNDED
        effect = {"effect": (rule,)} if rule else {}
        return Expectation(
            groups=(),
            complete=lambda _: after,
            observe=lambda state: self.observe(state, granted_bytes),
            result=result,
            rejected=rejected,
            rules={**rules, **effect, **why},
        )
