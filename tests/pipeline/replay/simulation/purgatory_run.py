"""Runs of a simulated purgatory: what its users do."""

# A fault is planted with an operation and keys of its own, which no other thread names, in the
# midst of whatever the others do. So nothing overlaps that could explain it.

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from purgatory_spec.profiles import Accounting

from . import purgatory_threads as calls
from . import purgatory_time_outs as time_outs
from .machine import Script, Thread
from .purgatory import SimulatedPurgatory, purgatory_of
from .purgatory_plan import PurgatoryFault, PurgatoryPlan

Scene: TypeAlias = Callable[["PurgatoryRun", Thread], Script]


@dataclass
class PurgatoryRun:
    """The users of one purgatory."""

    purgatory: SimulatedPurgatory
    scene: Scene | None = None
    snapshots: int = 0
    users: int = 0
    _names: int = 0

    def run(self) -> None:
        """Let all threads do what they do."""
        purgatory, machine, plan = self.purgatory, self.purgatory.machine, self.purgatory.plan
        at = machine.source.randrange(plan.threads), machine.source.randrange(plan.calls)
        if plan.shuts_down:
            at = at[0], plan.calls - 1
        purgatory.inside = self._inside
        for index in range(plan.threads):
            turn = at[1] if index == at[0] else None
            self.users += 1
            machine.start(self._user(Thread(machine, f"user {index}"), turn))
        if plan.has_reaper:
            machine.start(time_outs.reap(purgatory))
        else:
            machine.start(self._advance_for_ever(Thread(machine, "advancer")))
        machine.start(self._tell())
        machine.run(self._goes_on)

    def _goes_on(self) -> bool:
        if self.users or self.purgatory.plan.ends_abruptly:
            return self.users > 0
        operations = self.purgatory.operations.values()
        return any(each.asked_ms is not None or each.queued for each in operations)

    def fresh(self, fault: PurgatoryFault | None = None) -> str:
        """A name that was never used, perhaps one with which something goes wrong."""
        self._names += 1
        name = f"operation {self._names}"
        if fault is not None:
            self.purgatory.named(name, fault)
        return name

    def _user(self, thread: Thread, scene_at: int | None) -> Script:
        for turn in range(self.purgatory.plan.calls):
            yield self.purgatory.machine.pause(2_000_000)
            if turn == scene_at and self.scene is not None:
                yield from self.scene(self, thread)
            elif turn == scene_at and self.purgatory.plan.shuts_down:
                yield from calls.shutdown(self.purgatory, thread)
            else:
                yield from self.call(thread)
        self.users -= 1

    def call(self, thread: Thread) -> Script:
        """Some call; most name keys and operations that other threads name, too."""
        purgatory, source = self.purgatory, self.purgatory.machine.source
        keys = [f"key {number}" for number in range(purgatory.plan.keys)]
        known = [name for name in purgatory.watched[-12:] if self._is_right(name)]
        what = source.random()
        if what < 0.4 or not known:
            yield from self._watch(thread, keys)
        elif what < 0.65:
            yield from calls.check(purgatory, thread, source.choice(keys))
        elif what < 0.85:
            yield from calls.satisfy(purgatory, thread, source.choice(known))
        elif what < 0.92:
            yield from calls.force(purgatory, thread, source.choice(known))
        else:
            yield from calls.cancel(purgatory, thread, source.choice(keys))

    def _is_right(self, name: str) -> bool:
        return self.purgatory.operations[name].fault is None

    def _watch(self, thread: Thread, keys: list[str]) -> Script:
        purgatory, source = self.purgatory, self.purgatory.machine.source
        chosen = source.sample(keys, source.randint(1, min(3, len(keys))))
        if source.random() < 0.05:
            chosen = []
        elif purgatory.plan.accounting is Accounting.EXACT and source.random() < 0.1:
            chosen.append(chosen[0])
        name = self.fresh()
        if source.random() < 0.05:
            yield from calls.satisfy(purgatory, thread, name)
        delay_ms = source.choice((0, source.randrange(40), source.randrange(20, 100)))
        yield from calls.watch(purgatory, thread, name, tuple(chosen), delay_ms)

    def _inside(self, thread: Thread) -> Script:
        """Make the calls of a completion callback."""
        yield from self.purgatory.pause()
        yield from self.call(thread)

    def _advance_for_ever(self, thread: Thread) -> Script:
        while True:
            yield self.purgatory.machine.pause(self.purgatory.plan.lateness_ms * 400_000)
            yield from time_outs.advance(self.purgatory, thread)

    def _tell(self) -> Script:
        for _ in range(self.snapshots):
            yield self.purgatory.machine.pause(40_000_000)
            self.purgatory.snapshot()


def simulated_purgatory(
    seed: int, plan: PurgatoryPlan, scene: Scene | None = None, *, snapshots: int = 0
) -> SimulatedPurgatory:
    """A purgatory after its run; its machine has the lines."""
    purgatory = purgatory_of(seed, plan)
    PurgatoryRun(purgatory, scene, snapshots).run()
    return purgatory
