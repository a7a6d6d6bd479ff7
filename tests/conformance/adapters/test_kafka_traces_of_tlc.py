"""Behaviours that TLC finds, asked of Apache Kafka: random ones, and the mass expiry."""

from collections.abc import Iterator

import pytest

from purgatory_conformance.opening import open_subject
from purgatory_conformance.resources import adapters_folder
from purgatory_conformance.running.case_run import CaseVerdict, run_case
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_conformance.subjects.subject import profile_of
from purgatory_spec.cases import read_case
from purgatory_spec.profiles import component_of
from purgatory_tla.cases.comparison import Difference, follow, misfit
from purgatory_tla.cases.predictions import Driven
from purgatory_tla.cases.sources import counterexample, named_instance, simulated
from purgatory_tla.checkers.tools import wheel_jar
from purgatory_tla.manifest.manifest import read_manifest
from purgatory_tla.manifest.models import Settings
from purgatory_tla.resources import modules_folder

from .adapter_process import WORK_FOLDER, need_java_and_maven

pytestmark = [pytest.mark.verify, pytest.mark.java, pytest.mark.slow]

SETTINGS = Settings(modules_folder(), jar=wheel_jar())


@pytest.fixture(scope="module")
def kafka() -> Iterator[OpenSubject]:
    need_java_and_maven()
    opened = open_subject("kafka@4.4.0", work_folder=WORK_FOLDER)
    yield opened
    opened.subject.close()


def asked(opened: OpenSubject, driven: Driven) -> tuple[int, Difference | None]:
    """Return the number of steps of TLA+ that Kafka goes along with, and the difference then."""
    declared = profile_of(opened.subject, component_of(driven.configuration))
    offered = driven.for_subject(declared)
    assert misfit(offered, declared) == ""
    opened.subject.new("behaviour", driven.configuration)
    outcomes = opened.subject.do_all([each.operation for each in offered.predictions])
    followed = follow(offered, declared, outcomes)
    for _ in outcomes:
        pass
    opened.subject.end()
    return followed.steps(offered), followed.difference


@pytest.mark.parametrize(
    ("name", "traces", "least"),
    [
        ("timing-wheel-one-delay", 8, 300),
        ("memory-pool", 8, 300),
        ("purgatory-proposal", 8, 300),
        ("purgatory-proposal-cancelled", 8, 300),
        *(
            pytest.param(name, 40, least, marks=pytest.mark.large)
            for name, least in (
                ("timing-wheel", 150),
                ("timing-wheel-one-delay", 2000),
                ("memory-pool", 1800),
                ("memory-pool-strict", 1800),
                ("purgatory-proposal", 1800),
                ("purgatory-proposal-cancelled", 1800),
                ("purgatory-proposal-interleaved", 300),
            )
        ),
    ],
)
def test_kafka_does_what_tlc_predicts(
    name: str, traces: int, least: int, kafka: OpenSubject
) -> None:
    """Nothing differs, cancelling for a key included, and several hundred steps are followed."""
    instance = named_instance(name)
    assert instance is not None
    answers = [
        asked(kafka, found.driven)
        for found in simulated(instance, SETTINGS, traces=traces, depth=60, seed=1)
    ]
    assert [difference for _, difference in answers if difference is not None] == []
    assert sum(steps for steps, _ in answers) >= least


def test_adds_after_shutdown_differ_as_is_declared(kafka: OpenSubject) -> None:
    instance = named_instance("timer-shutdown")
    assert instance is not None
    differences = set()
    for found in simulated(instance, SETTINGS, traces=20, depth=60, seed=1):
        _, difference = asked(kafka, found.driven)
        if difference is not None:
            run = run_case(
                kafka.subject,
                "behaviour",
                found.driven.configuration,
                [each.operation for each in found.driven.predictions],
                tuple(each for each in kafka.deviations if each.rule.startswith("TIMER-")),
            )
            assert run.verdict is CaseVerdict.DEVIATES
            assert run.divergence is not None
            differences.add((difference.about, run.divergence.rule))
    assert differences == {("answer", "TIMER-SHUTDOWN-CLOSED")}


def test_the_mass_expiry_comes_from_the_trace_alone(kafka: OpenSubject) -> None:
    """Kafka does all of it: the last pass leaves two stale operations, and nothing counts them."""
    (model,) = (
        each for each in read_manifest().models if each.name == "proposal-mass-expiry-passed-over"
    )
    found = counterexample(model, SETTINGS)
    assert found.driven.stopped is None
    last = found.driven.predictions[-1].outcome.observed
    assert (last["stale_operations"], last["estimate"]) == (2, 0)
    assert asked(kafka, found.driven) == (found.driven.length, None)


def test_the_replay_file_of_tlc_still_fails(kafka: OpenSubject) -> None:
    """Given the replay file that is TLC's: it fails, for the rule that it names."""
    deviations = adapters_folder() / "kafka" / "deviations"
    case = read_case(deviations / "tlc-mass-expiry-passed-over.jsonl")
    run = run_case(kafka.subject, case.header.case, case.header.configuration, case.operations)
    assert run.verdict is CaseVerdict.FAIL
    assert run.divergence is not None
    assert run.divergence.rule == case.header.breaks
