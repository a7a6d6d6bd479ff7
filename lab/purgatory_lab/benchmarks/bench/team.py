"""All peers of a run: made ready, asked, started anew after a failure, ended."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final

from purgatory_lab.benchmarks.bench.building import NotBuilt
from purgatory_lab.benchmarks.bench.results import Measurement, PeerFacts, Request
from purgatory_lab.benchmarks.bench.roster import Place, Roll
from purgatory_lab.benchmarks.bench.talking import Broken, PeerProcess, Start
from purgatory_lab.benchmarks.python_peer.messages import Hello

HELLO_SECONDS: Final = 60.0
_MOST_STARTS: Final = 4
"""The starts after which a peer that breaks again and again is given up."""


@dataclass
class Member:
    """A peer of the run.

    Attributes:
        roll: The peer's entry in the roster.
        start: How it is started; None where it could not be made ready.
        reason: Why the peer is not measured; empty for a measured peer.
        hello: The hello of the peer's first start; None before.
        process: The running process; None while the peer is not running.
        starts: How often it was started.
    """

    roll: Roll
    start: Start | None = None
    reason: str = ""
    hello: Hello | None = None
    process: PeerProcess | None = None
    starts: int = 0

    @property
    def name(self) -> str:
        """Return the name of the member."""
        return self.roll.name

    def facts(self) -> PeerFacts:
        """Return the peer's entry in the file of results."""
        if self.hello is None:
            return PeerFacts(self.name, self.reason)
        hello = self.hello
        return PeerFacts(self.name, self.reason, hello.version, hello.runtime, hello.measures)


class Team:
    """The peers, in their order.

    Attributes:
        members: All peers, including the unmeasured.
    """

    def __init__(self, rolls: Sequence[Roll], place: Place, say: Callable[[str], None]) -> None:
        """Make every peer ready, one after the other; say which cannot be had, and why."""
        place.work.mkdir(parents=True, exist_ok=True)
        self.members = [Member(roll) for roll in rolls]
        self._say = say
        try:
            for member in self.members:
                self._make_ready(member, place)
        except BaseException:
            self.rest()
            raise

    def __enter__(self) -> "Team":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.rest()

    def able(self, measure: str) -> list[Member]:
        """Return the members that can be asked for a measure now, broken ones started anew."""
        found = []
        for member in self.members:
            if member.hello is None or measure not in member.hello.measures:
                continue
            if member.process is None and not member.reason:
                self._start(member)
            if member.process is not None:
                found.append(member)
        return found

    def ask(self, member: Member, request: Request, patience_s: float) -> Measurement:
        """Ask a member that is able.

        Raises:
            Declined: the peer cannot take the measure.
            Broken: the peer was ended; the next ``able`` starts a new process.
        """
        if member.process is None:
            raise Broken(member.reason or "it was ended before")
        try:
            return member.process.ask(request, patience_s)
        except Broken:
            member.process = None
            raise

    def rest(self) -> None:
        """End all processes; they are started anew when somebody is asked again."""
        for member in self.members:
            if member.process is not None:
                member.process.close()
                member.process = None

    def _make_ready(self, member: Member, place: Place) -> None:
        self._say(f"making {member.name} ready")
        try:
            member.start = member.roll.start(place)
        except NotBuilt as problem:
            self._give_up(member, str(problem))
            return
        self._start(member)

    def _start(self, member: Member) -> None:
        """Start the process; a failure is noted in the member as the reason."""
        assert member.start is not None
        member.starts += 1
        if member.starts > _MOST_STARTS:
            self._give_up(member, f"given up after {_MOST_STARTS} starts")
            return
        try:
            process = PeerProcess(member.start, HELLO_SECONDS)
        except Broken as problem:
            self._give_up(member, str(problem))
            return
        wanted = member.roll.runtime
        if not process.hello.runtime.endswith(wanted):
            runtime = process.hello.runtime
            process.close()
            self._give_up(member, f"it should be{wanted.lstrip(',')}, and is {runtime}")
            return
        member.process = process
        member.hello = member.hello or process.hello

    def _give_up(self, member: Member, reason: str) -> None:
        member.reason = reason
        self._say(f"not measured: {member.name}: {reason}")
