"""The judge of a server's channels: it follows a subject step by step with the model.

Where several channels want the same memory a poll has several right ends, and where the subject
shows little, several of them may have come about: the judge carries them all.
"""

from purgatory_judge.channel_muting.blame import blame
from purgatory_judge.judgement import Judgement, TooManyStates
from purgatory_judge.reached import reached
from purgatory_model.channel_muting import ChannelMutingModel, ChannelMutingState
from purgatory_model.step import TooManyBranches
from purgatory_spec.operations import Operation, Throttle
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import ChannelMutingConfiguration, ChannelMutingProfile

STATES_CAP = 256
"""The most possible states that the judge carries; beyond it a case is inconclusive."""


class ChannelMutingJudge:
    """Follows one case. After a divergence it must not be used further."""

    def __init__(
        self,
        configuration: ChannelMutingConfiguration,
        profile: ChannelMutingProfile,
        variants: frozenset[str] = frozenset(),
    ) -> None:
        """Start with a server without connections, judged under the profile.

        ``variants`` are those of the model that the subject is declared to follow.
        """
        self.model = ChannelMutingModel(configuration, profile, variants)
        self.states: tuple[ChannelMutingState, ...] = (self.model.initial(),)
        self._throttled: set[str] = set()

    @property
    def state(self) -> ChannelMutingState:
        """Return one of the states in which the subject may be."""
        return self.states[0]

    def step(self, operation: Operation, outcome: Outcome) -> Judgement:
        """Judge a step by the operation and the outcome.

        Raises:
            TooManyStates: more than ``STATES_CAP`` states are possible, or a poll is too wide.
        """
        try:
            return self._step(operation, outcome)
        except TooManyBranches:
            raise TooManyStates from None

    def _step(self, operation: Operation, outcome: Outcome) -> Judgement:
        found = reached(
            self.states, lambda state: self.model.expectations(state, operation), outcome
        )
        if not found:
            divergence = blame(
                self.model, self.states, operation, outcome, frozenset(self._throttled)
            )
            return Judgement(divergence=divergence)
        if isinstance(operation, Throttle):
            self._throttled.add(operation.channel)
        if len(found) > STATES_CAP:
            raise TooManyStates
        self.states = tuple(after for _, after in found)
        visited = set(found[0][0].rules.get("effect", ()))
        for way, _ in found[1:]:
            visited &= set(way.rules.get("effect", ()))
        return Judgement(visited=visited)
