"""The workload with an equal limit on resident memory, for the designs in Python.

The controller looks at the resident memory of the peer's process every 20 ms, and ends the process
when it is beyond the limit. That is the same for every design, and it changes nothing for a program
that stays below: a limit of the operating system on data (``RLIMIT_DATA``) counts what was reserved
and not what is held, and lets the allocation fail that happens to be next, be it the harness's own.

Memory counts while the process has several threads, as the workload has: before, it draws inputs,
and afterwards it sorts what it has noted, which is not what is measured.

Each point has a fresh process. The limit is what the compiled build needs at the lowest rate, and
so much room above it; or what was told.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from purgatory_lab.benchmarks.bench.results import Curve, Failure, Measurement, Sample, Setting
from purgatory_lab.benchmarks.bench.rounds import Plan, Taken
from purgatory_lab.benchmarks.bench.sweep import patience, saturated
from purgatory_lab.benchmarks.bench.sweep_plan import TIGHT, Series, Sweep, point
from purgatory_lab.benchmarks.bench.talking import Broken, Declined, PeerProcess
from purgatory_lab.benchmarks.bench.team import HELLO_SECONDS, Member

_MOST_POINTS: Final = 240


@dataclass
class ResidentWatch:
    """Looks at the resident memory of a process.

    Attributes:
        limit_mib: Beyond this it has to end; None for never.
        seconds: The times of the readings, from the first reading that counts.
        mib: The readings of resident memory, MiB.
        exceeded: Whether a reading was beyond the limit.
    """

    limit_mib: float | None
    seconds: list[float] = field(default_factory=list)
    mib: list[float] = field(default_factory=list)
    exceeded: bool = False
    _begin: float = 0.0

    def look(self, process: int) -> str:
        """Return the reason why the process has to be ended; empty where it may go on."""
        seen, threads = memory_and_threads(process)
        if threads < 2:
            return ""
        self._begin = self._begin or time.monotonic()
        self.seconds.append(round(time.monotonic() - self._begin, 3))
        held = round(seen, 2)  # the noted value is the judged value
        self.mib.append(held)
        if self.limit_mib is None or held <= self.limit_mib:
            return ""
        self.exceeded = True
        limit, when = self.limit_mib, self.seconds[-1]
        return f"resident memory beyond {limit:.1f} MiB after {when:.1f} s; ended"


def memory_and_threads(process: int) -> tuple[float, int]:
    """Return a process's memory, MiB, and its number of threads.

    Both are 0 where it has ended, or the system does not tell.
    """
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return 0.0, 0
    told = dict(line.partition(":")[::2] for line in status.splitlines())
    if "VmRSS" not in told:
        return 0.0, 0
    return int(told["VmRSS"].split()[0]) / 1024, int(told["Threads"])


def thinned(watch: ResidentWatch) -> tuple[list[float], list[float]]:
    """Return at most some hundred points: of neighbours the one with the most memory."""
    step = max(1, -(-len(watch.mib) // _MOST_POINTS))
    seconds, mib = [], []
    for first in range(0, len(watch.mib), step):
        best = max(range(first, min(first + step, len(watch.mib))), key=watch.mib.__getitem__)
        seconds.append(watch.seconds[best])
        mib.append(watch.mib[best])
    return seconds, mib


@dataclass(frozen=True)
class Limit:
    """The limit of the peers' resident memory.

    Attributes:
        told_mib: The limit itself, MiB; None where it follows from the room.
        room_mib: Above what the first peer needs at the lowest rate, MiB.
    """

    told_mib: float | None
    room_mib: float


def run_tight(
    members: Sequence[Member],
    sweep: Sweep,
    limit: Limit,
    plan: Plan,
    taken: Taken,
    say: Callable[[str], None],
    keep: Callable[[Setting, list[Curve]], None],
) -> None:
    """Take all points, and what memory did at each of them.

    Args:
        members: The peers; the first one that can be had finds the limit.
        sweep: What is swept; of numbers of keys and of purge intervals the first alone.
        limit: On resident memory.
        plan: Seed and patience; there is one round.
        taken: Where samples and failures go.
        say: Takes what is under way.
        keep: Called after each point with its curves, to write down what there is.
    """
    for case in sweep.cases:
        active = [each for each in members if each.start is not None and not each.reason]
        left: dict[str, str] = {}
        mib = limit.told_mib
        series = Series(case, sweep.keys[0], sweep.purge_intervals[0])
        for rate in sweep.rates:
            if not active:
                break
            setting = point(series, rate, sweep, TIGHT)
            curves: list[Curve] = []
            say(f"measuring {setting.name}")
            taken.failures += [Failure(setting.name, name, why) for name, why in left.items()]
            try:
                mib = mib or _calibrated(active[0], setting, limit, plan, say)
            except (Declined, Broken) as problem:
                why = f"the limit was not found: {active[0].name}: {problem}"
                taken.failures += [Failure(setting.name, each.name, why) for each in active]
                keep(setting, curves)
                break
            for place, member in enumerate(tuple(active), start=1):
                watch = ResidentWatch(mib)
                why = _point(member, setting, plan, watch, place, taken)
                seconds, held = thinned(watch)
                curves.append(Curve(setting.name, member.name, mib, watch.exceeded, seconds, held))
                if why:
                    active.remove(member)
                    left[member.name] = why
            keep(setting, curves)


def _calibrated(
    member: Member, setting: Setting, limit: Limit, plan: Plan, say: Callable[[str], None]
) -> float:
    """Return the first peer's memory at the lowest rate, plus the room above it, MiB.

    Raises:
        Broken: the peer did not answer, or the system does not tell what it takes.
        Declined: the peer cannot do this.
    """
    watch = ResidentWatch(None)
    _ask(member, setting, plan, watch)
    if not watch.mib:
        raise Broken(
            "what it held was not to be seen; it was too quick, or the system does not tell"
        )
    peak = max(watch.mib)
    mib = round(peak + limit.room_mib, 1)
    say(f"{member.name} takes {peak:.1f} MiB; the limit is {mib:.1f} MiB")
    return mib


def _point(
    member: Member, setting: Setting, plan: Plan, watch: ResidentWatch, place: int, taken: Taken
) -> str:
    """Take one point; why the peer is asked for no further one."""
    try:
        answer = _ask(member, setting, plan, watch)
    except (Declined, Broken) as problem:
        taken.failures.append(Failure(setting.name, member.name, str(problem)))
        return f"at {setting.label}: {problem}"
    taken.samples.append(Sample(setting.name, member.name, 1, place, answer))
    return saturated(setting, [answer])


def _ask(member: Member, setting: Setting, plan: Plan, watch: ResidentWatch) -> Measurement:
    assert member.start is not None
    command = [*member.start.command, *member.roll.alone]
    log = member.start.log.with_name(f"{member.name}-tight.log")
    process = PeerProcess(replace(member.start, command=command, log=log), HELLO_SECONDS)
    try:
        request = {**setting.request, "seed": plan.seed + 1}
        return process.ask(request, patience(setting, plan), watch)
    finally:
        process.close()
