"""Runs of a simulated pool: what its users do."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from purgatory_spec import operations as op

from .machine import Script, Thread
from .memory_pool import PoolPlan, SimulatedPool, pool_of

Scene: TypeAlias = Callable[["PoolRun", Thread], Script]


@dataclass
class PoolRun:
    """The users of one pool."""

    pool: SimulatedPool
    scene: Scene | None = None
    snapshots: int = 0
    users: int = 0
    _names: int = 0

    def run(self) -> None:
        """Let all threads do what they do."""
        machine, plan = self.pool.machine, self.pool.plan
        at = machine.source.randrange(plan.threads), machine.source.randrange(plan.calls)
        for index in range(plan.threads):
            turn = at[1] if index == at[0] else None
            self.users += 1
            machine.start(self._user(Thread(machine, f"user {index}"), turn))
        machine.start(self._tell())
        machine.run(lambda: self.users > 0)

    def fresh(self) -> str:
        """A name that no buffer had."""
        self._names += 1
        return f"buffer {self._names}"

    def _user(self, thread: Thread, scene_at: int | None) -> Script:
        pool = self.pool
        for turn in range(pool.plan.calls):
            yield pool.machine.pause(100_000)
            if turn == scene_at and self.scene is not None:
                yield from pool.alone(self.scene(self, thread))
                continue
            while pool.gate_closed:
                yield 10_000
            pool.under_way += 1
            yield from self.call(thread)
            pool.under_way -= 1
        self.users -= 1

    def call(self, thread: Thread) -> Script:
        """Some call: about as much is asked for as is given back."""
        pool, source = self.pool, self.pool.machine.source
        what = source.random()
        if what < 0.06:
            yield from self._odd_call(thread)
        elif pool.held and what < 0.5:
            buffer = source.choice(pool.held)
            lost = pool.plan.knows_its_own and source.random() < 0.1
            yield from pool.call(thread, op.Lose(buffer) if lost else op.Release(buffer))
        else:
            size = source.choice((1, source.randint(1, pool.plan.max_single_bytes)))
            yield from pool.call(thread, op.Allocate(self.fresh(), size))

    def _odd_call(self, thread: Thread) -> Script:
        """A call that is refused, or changes nothing."""
        pool, source = self.pool, self.pool.machine.source
        most = pool.plan.max_single_bytes
        calls: list[op.MemoryPoolOperation] = [
            *(op.Allocate(self.fresh(), size) for size in (0, -3, most + 1)),
            op.ReleaseNothing(),
            op.Construct(5, 6),
            op.Construct(6, 5),
        ]
        if pool.plan.knows_its_own:
            calls += [op.ReleaseForeign(3), *map(op.Release, pool.returned)]
            calls += [op.Release(name, op.ReleaseForm.COPY) for name in pool.returned[:2]]
        yield from pool.call(thread, source.choice(calls))

    def _tell(self) -> Script:
        for _ in range(self.snapshots):
            yield self.pool.machine.pause(3_000_000)
            self.pool.snapshot()


def drawn_plan(seed: int) -> PoolPlan:
    """A plan that a seed stands for."""
    source = random.Random(seed)
    size_bytes = source.choice((1, 5, 40, 100, 1000))
    return PoolPlan(
        threads=source.randint(2, 5),
        calls=source.randint(5, 30),
        size_bytes=size_bytes,
        max_single_bytes=source.randint(1, size_bytes),
        strict=source.random() < 0.5,
        unbounded=source.random() < 0.1,
        knows_its_own=source.random() < 0.5,
        lag_ns=source.choice((0, 40_000, 300_000)),
    )


def simulated_pool(
    seed: int, plan: PoolPlan, scene: Scene | None = None, *, snapshots: int = 0
) -> SimulatedPool:
    """A pool after its run; its machine has the lines."""
    pool = pool_of(seed, plan)
    PoolRun(pool, scene, snapshots).run()
    return pool
