"""Rules of the model as a search asks for them: the rules of a call, whatever it showed."""

from collections.abc import Iterable
from dataclasses import dataclass

from purgatory_model.overlapping.parts import Part
from purgatory_model.overlapping.sequential_rules import Effect, Rules
from purgatory_pipeline.linearizability.calls import CallRules, RecordedCall, Rule


@dataclass(frozen=True, slots=True)
class ModelRules(CallRules[Rule]):
    """Sequential rules of ``purgatory_model``."""

    rules: Rules[Rule]

    def initial(self) -> Rule:
        """Where they begin."""
        return self.rules.initial()

    def effects(self, state: Rule, call: RecordedCall, part: Part) -> Iterable[Effect[Rule]]:
        """The ways in which a part of a call may take effect."""
        return self.rules.effects(state, call.operation, part)
