"""Cases as traces: what the suite keeps as a case, told as the lines of a run.

A golden vector is then a trace that conforms, and a failing case one that diverges in its last
step, by the rule that the suite names. A case's names stand for one object throughout, so that its
trace keeps names (``Begin.keeps_names``).
"""

from collections.abc import Sequence

import msgspec

from purgatory_spec import cases, profiles
from purgatory_spec.cases import Case
from purgatory_traces.traces.lines import (
    Begin,
    DeclaredDeviation,
    End,
    Instance,
    MemoryPoolInstance,
    PurgatoryInstance,
    Step,
    TimerInstance,
    TraceLine,
)

_ENCODER = msgspec.json.Encoder(order="deterministic")


def trace_of_case(
    case: Case, run: str = "", *, keeps_names: bool = True, declares: bool = False
) -> tuple[TraceLine, ...]:
    """Return the lines of a run with the case's steps.

    Args:
        case: Every step has its outcome.
        run: The run's name; the case's, unless given.
        keeps_names: Whether names stand for one object throughout, as they do in a case.
        declares: Whether the first line declares the deviation that the case shows, if it does.

    Raises:
        ValueError: a step has no outcome, or the case is one on a real clock.
    """
    header = case.header
    deviations: tuple[DeclaredDeviation, ...] = ()
    if declares and header.breaks and header.variant:
        deviations = (DeclaredDeviation(header.breaks, header.variant),)
    begin = Begin(
        run=run or header.case,
        seq=0,
        instance=instance_of(header.configuration, header.profile),
        subject=header.subject,
        deviations=deviations,
        keeps_names=keeps_names,
    )
    return trace_of_steps(begin, case.steps)


def trace_of_steps(begin: Begin, steps: Sequence[cases.Step]) -> tuple[TraceLine, ...]:
    """Return the lines of a run that begins so, on a manual clock, and has these steps.

    Raises:
        ValueError: a step has no outcome.
    """
    lines: list[TraceLine] = [begin]
    for seq, step in enumerate(steps, start=begin.seq + 1):
        outcome = step.outcome
        if outcome is None:
            raise ValueError(f"step {seq} has no outcome: nothing was recorded of it")
        lines.append(
            Step(
                run=begin.run,
                seq=seq,
                operation=step.operation,
                result=outcome.result,
                rejected=outcome.rejected,
                events=outcome.events,
                observed=outcome.observed,
            )
        )
    lines.append(End(run=begin.run, seq=begin.seq + len(lines)))
    return tuple(lines)


def instance_of(configuration: profiles.Configuration, profile: profiles.Profile) -> Instance:
    """Return the instance in the first line of such a run.

    Raises:
        ValueError: the two belong to two components, or to one without traces, or the clock is a
            real one.
    """
    match configuration, profile:
        case profiles.TimerConfiguration(), profiles.TimerProfile():
            if profile.clock is profiles.Clock.WALL:
                raise ValueError("the case was recorded on a real clock")
            return TimerInstance(configuration, profile)
        case profiles.PurgatoryConfiguration(), profiles.PurgatoryProfile():
            return PurgatoryInstance(configuration, profile)
        case profiles.MemoryPoolConfiguration(), profiles.MemoryPoolProfile():
            return MemoryPoolInstance(configuration, profile)
        case profiles.ChannelMutingConfiguration(), profiles.ChannelMutingProfile():
            raise ValueError("there are no traces of a server's channels")
    raise ValueError("configuration and profile belong to two components")


def encoded(line: TraceLine) -> bytes:
    """Return a line as it stands in a file, without its line end."""
    return _ENCODER.encode(line)
