"""Behaviours made by hand, and TLC's, which are made once for all tests that ask for them."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from purgatory_conformance.subjects.subject import Subject, profile_of
from purgatory_spec.profiles import component_of
from purgatory_tla.cases.behaviours import Behaviour, behaviour_of
from purgatory_tla.cases.comparison import Followed, follow, misfit
from purgatory_tla.cases.predictions import Driven
from purgatory_tla.cases.sources import Found, named_instance, simulated
from purgatory_tla.checkers.tools import wheel_jar
from purgatory_tla.manifest.models import Settings
from purgatory_tla.resources import modules_folder
from purgatory_tla.values.itf import make_state, make_trace

REST: tuple[object, ...] = ()


def behaviour(first: Mapping[str, object], *steps: tuple[tuple[object, ...], Any]) -> Behaviour:
    """A behaviour from labels with what each changes; at rest between them, as history modules."""
    values = dict(first)
    states = [make_state({"index": 0}, {**values, "step": REST})]
    for label, changes in steps:
        values |= changes
        states.append(make_state({"index": len(states)}, {**values, "step": label}))
        states.append(make_state({"index": len(states)}, {**values, "step": REST}))
    return behaviour_of(make_trace(states, None, {}))


@cache
def simulated_by_tlc(name: str, traces: int = 20, depth: int = 60) -> tuple[Found, ...]:
    """TLC's behaviours of a named instance, always those of one seed."""
    instance = named_instance(name)
    assert instance is not None
    settings = Settings(modules_folder(), jar=wheel_jar())
    return tuple(simulated(instance, settings, traces=traces, depth=depth, seed=1))


def asked_of(subject: Subject, driven: Driven) -> tuple[Driven, Followed]:
    """Return what of a behaviour a subject could be asked, and how far it went along."""
    declared = profile_of(subject, component_of(driven.configuration))
    offered = driven.for_subject(declared)
    if misfit(offered, declared):
        return offered, Followed()
    subject.new("behaviour", driven.configuration)
    outcomes = subject.do_all([each.operation for each in offered.predictions])
    followed = follow(offered, declared, outcomes)
    for _ in outcomes:
        pass
    subject.end()
    return offered, followed
