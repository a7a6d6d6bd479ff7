"""Hypothesis stateful tests check the implementation step by step against the model.

Each machine below has the implementation on one side and the model on the other. What Hypothesis
may ask next are the situations of the component's table, each a rule of the machine: "add at a
level's boundary", "a callback that watches", "go to the bound". A rule draws operations, and the
machine carries them out, one after another (``carry_out`` in ``purgatory_conformance.stateful``):

    outcome = subject.do(operation)             the implementation
    judgement = judge.step(operation, outcome)  the model: is this outcome one that it allows?

A step is right if result or rejection, every event and every observable are those of the model.
Any other step is blamed on a rule of ``spec/``, by its name.

The invariants are claims of the published designs. They stand here without the model: they read
what was asked and what the implementation shows, and nothing else.
"""

from typing import ClassVar

import pytest
from hypothesis import settings, target
from hypothesis.stateful import invariant

from purgatory_conformance.stateful import (
    ChannelMutingMachine,
    MemoryPoolMachine,
    PurgatoryMachine,
    TimerMachine,
)
from purgatory_conformance.subjects.bundled import channel_muting, memory_pool, purgatory, timer
from purgatory_judge.case_judge import Deviation
from purgatory_spec import profiles
from purgatory_spec.operations import Advance, Allocate, Elapse, Lose, Release, ReleaseForm


class TheTimer(TimerMachine, tests=timer.TimerInstance, profile=timer.PROFILE):
    """The hierarchical timing wheel."""

    @invariant()
    def the_wheels_own_clock_is_a_tick_that_has_come(self) -> None:
        """The wheel lags behind the clock while nothing is due, and never runs ahead of it."""
        assert isinstance(self.configuration, profiles.TimerConfiguration)
        if self.observed:
            own_clock_ms = self.number("wheel_clock_ms")
            assert own_clock_ms % self.configuration.tick_ms == 0
            assert own_clock_ms <= self.now_ms

    @invariant()
    def the_delay_queue_holds_buckets_and_not_tasks(self) -> None:
        """However many tasks there are, no more is queued than the wheels have buckets."""
        assert isinstance(self.configuration, profiles.TimerConfiguration)
        buckets = self.number("levels") * self.configuration.wheel_size
        assert self.number("queued_buckets") <= buckets

    @property
    def now_ms(self) -> int:
        """The reading that the steps have moved the clock to."""
        assert isinstance(self.configuration, profiles.TimerConfiguration)
        moves = [each.operation for each in self.steps]
        readings = [move.to_ms for move in moves if isinstance(move, Advance | Elapse)]
        return readings[-1] if readings else self.configuration.start_ms


class ThePurgatory(PurgatoryMachine):
    """What both accountings promise of the estimate, each with its own count of what is owed."""

    owed: ClassVar[str]

    @invariant()
    def an_advance_leaves_no_more_to_purge_than_the_interval(self) -> None:
        """A purge starts when the estimate exceeds the owed time-outs by more than the interval."""
        assert isinstance(self.configuration, profiles.PurgatoryConfiguration)
        if self.steps and isinstance(self.steps[-1].operation, Advance):
            to_purge = self.number("estimate") - self.number(self.owed)
            assert to_purge <= max(self.configuration.purge_interval, self.live // 2)

    @property
    def live(self) -> int:
        """The entries that live, where purges are amortised; none where the interval is fixed."""
        return 0


class TheExactPurgatory(ThePurgatory, tests=purgatory.PurgatoryInstance, profile=purgatory.PROFILE):
    """Each stale entry is counted once and forgotten once, in any order of events."""

    owed = "pending"

    @property
    def live(self) -> int:
        """The entries that are not stale."""
        return self.number("entries") - self.number("stale_entries")

    @invariant()
    def the_estimate_is_what_is_owed_and_what_is_stale(self) -> None:
        """No reset, and no guess: the estimate is a sum of two counts."""
        stale = self.number("stale_entries")
        assert self.number("estimate") == self.number("pending") + stale


class TheProposedPurgatory(
    ThePurgatory,
    tests=purgatory.proposal_instance,
    profile=purgatory.PROPOSAL_PROFILE,
    deviations=[Deviation("PURGATORY-STALE-OPERATIONS", "stale_uncounted")],
):
    """The estimate as published: it is kept small, but forgets the operations of a mass expiry."""

    owed = "timer_size"


class TheMemoryPool(
    MemoryPoolMachine, tests=memory_pool.MemoryPoolInstance, profile=memory_pool.PROFILE
):
    """The pool that bounds what incoming requests may hold."""

    @invariant()
    def no_more_is_outstanding_than_the_bound(self) -> None:
        """A non-strict pool grants as long as one byte is left: it goes beyond by one buffer."""
        sizes = self.configuration
        assert isinstance(sizes, profiles.MemoryPoolConfiguration)
        if not sizes.unbounded:
            beyond = 0 if sizes.strict else sizes.max_single_bytes - 1
            assert self.outstanding_bytes <= sizes.size_bytes + beyond

    @invariant()
    def nothing_is_lost(self) -> None:
        """What is available and what is outstanding are the pool."""
        sizes = self.configuration
        assert isinstance(sizes, profiles.MemoryPoolConfiguration)
        if self.observed and not sizes.unbounded:
            assert self.number("available_bytes") + self.outstanding_bytes == sizes.size_bytes

    @property
    def outstanding_bytes(self) -> int:
        """The bytes that were granted and have not come back, counted from the steps."""
        held: dict[str, int] = {}
        for step in self.steps:
            match step.operation:
                case Allocate(buffer, size_bytes) if step.outcome and step.outcome.result:
                    held[buffer] = size_bytes
                case Release(buffer, ReleaseForm.ITSELF) | Lose(buffer):
                    held.pop(buffer, None)
        return sum(held.values())

    def teardown(self) -> None:
        """Have Hypothesis look for the pools that have granted the most."""
        target(float(self.outstanding_bytes), label="bytes outstanding")
        super().teardown()


class TheChannels(
    ChannelMutingMachine,
    tests=channel_muting.ChannelMutingInstance,
    profile=channel_muting.PROFILE,
):
    """Connections over loopback that wait until there is memory for their requests."""

    @invariant()
    def nobody_holds_and_waits(self) -> None:
        """Who has memory never waits for memory, and who is not answered does neither."""
        if self.observed:
            waiting, holding = self.names("waiting"), self.names("holding")
            assert not waiting & holding
            assert not self.names("ordered") & (waiting | holding)

    @invariant()
    def the_limit_is_exceeded_by_less_than_a_request(self) -> None:
        """However many channels there are."""
        given = self.configuration
        assert isinstance(given, profiles.ChannelMutingConfiguration)
        if self.observed:
            beyond = 0 if given.strict else given.max_request_bytes - 1
            assert self.number("available_bytes") >= -beyond


TestTheTimer = pytest.mark.recorded(TheTimer.TestCase)
TestTheTimer.settings = settings(TestTheTimer.settings, max_examples=50)

TestTheExactPurgatory = TheExactPurgatory.TestCase
TestTheExactPurgatory.settings = settings(TestTheExactPurgatory.settings, max_examples=20)

TestTheProposedPurgatory = TheProposedPurgatory.TestCase
TestTheProposedPurgatory.settings = settings(TestTheProposedPurgatory.settings, max_examples=20)

TestTheMemoryPool = TheMemoryPool.TestCase
TestTheMemoryPool.settings = settings(TestTheMemoryPool.settings, max_examples=50)

TestTheChannels = pytest.mark.recorded(TheChannels.TestCase)
TestTheChannels.settings = settings(TestTheChannels.settings, max_examples=20)
