"""A failing case judged anew: the states of the model on the way to the diverging step."""

from dataclasses import dataclass

from purgatory_judge.judgement import Divergence
from purgatory_spec.cases import Step
from purgatory_spec.profiles import Configuration, Profile


@dataclass(frozen=True, slots=True)
class RetracedCase:
    """The steps, the judge's state before each of them, and how the last one diverges."""

    configuration: Configuration
    profile: Profile
    steps: tuple[Step, ...]
    states: tuple[object, ...]
    divergence: Divergence
