"""A counterexample of channels that wait for memory, as a story."""

from collections.abc import Mapping

from purgatory_conformance.reporting.counterexample import narrate
from purgatory_model.claims.explorer import Counterexample
from purgatory_model.claims.narrative import Narrative
from purgatory_model.concurrent.channel_muting.model import ChannelMuting, MutingState
from purgatory_model.concurrent.channel_muting.words import describe_channel
from purgatory_model.overlapping.interleaving import Step

SAYINGS: Mapping[str, str] = {
    "Announce": "client: {0} announces a request",
    "SendRest": "client: {0} sends the rest of its request",
    "Poll": "thread {thread}: looks at the pool: {available} bytes",
    "Select": "thread {thread}: selects",
    "Read": "thread {thread}: reads channel {0}",
    "Look": "thread {thread}: reads channel {0}, sees {available} bytes",
    "Take": "thread {thread}: takes for channel {0}",
    "Done": "thread {thread}: has read everything",
    "Release": "handler: gives the memory of request {0} back",
    "Respond": "client: {0} gets its response",
}
"""The actions, who takes them and in words: ``{0}`` is the channel, ``available`` the bytes before.

The thread is the one that acts, or whose channel it is.
"""

OF_THREADS = frozenset({"Poll", "Select", "Done"})
"""The actions whose argument is a thread."""


def narrate_channel_muting(
    instance: str, muting: ChannelMuting, counterexample: Counterexample[MutingState, Step]
) -> Narrative:
    """Return the way to a step that breaks the claim; ``instance`` says what was explored."""

    def says(before: MutingState, step: Step) -> tuple[str, str]:
        (argument,) = step.arguments
        number = int(argument)
        thread = number if step.action in OF_THREADS else muting.thread_of(number)
        actor, _, words = SAYINGS[step.action].partition(": ")
        available = before.available_bytes
        return actor.format(thread=thread), words.format(number, available=available)

    return narrate(instance, counterexample, says, _counts)


def _counts(state: MutingState) -> dict[str, str]:
    phases = ", ".join(phase.value for phase in state.phases)
    channels = {f"channel {number}": describe_channel(each) for number, each in state.numbered}
    return {"available": str(state.available_bytes), "next": phases, **channels}
