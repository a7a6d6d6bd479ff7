"""A judge of a trace forgets what is finished: it does not grow, and it says what it gives up."""

import pickle

import msgspec
import pytest

from purgatory_spec.profiles import Component
from purgatory_traces.replay import RunReplay
from purgatory_traces.results.rows import VerdictRow
from purgatory_traces.traces.from_cases import encoded
from purgatory_traces.traces.lines import TRACED, Begin, DeclaredDeviation, Located
from purgatory_traces.traces.parsing import parse
from purgatory_traces.traces.synthetic import run_lines as made_up

DEVIATIONS = {
    Component.TIMER: DeclaredDeviation("TIMER-LARGEST-DELAY", "long_arithmetic"),
    Component.PURGATORY: DeclaredDeviation("PURGATORY-SECOND-TRY-THROWS", "second_try_unarmed"),
    Component.MEMORY_POOL: DeclaredDeviation("POOL-CONSERVATION", "credits_anything"),
}


def sizes(
    component: Component, events: int, places: tuple[int, ...], **of_begin: object
) -> list[int]:
    """The size of the pickled replay behind some lines of a long run."""
    # Twelve hundred lines further a made-up run is in the same phase: as much is live and stale.
    run = RunReplay("r")
    found = []
    for seq, raw in enumerate(made_up("r", component, events)):
        line = raw
        if seq == 0:
            begin = parse(raw)
            assert isinstance(begin, Begin)
            line = encoded(msgspec.structs.replace(begin, **of_begin))
        assert run.take(Located("r", seq, "f", seq + 1, line)) is None
        if seq in places:
            found.append(len(pickle.dumps(run)))
    assert [row.verdict for row in run.finish() if isinstance(row, VerdictRow)] == ["conforms"]
    return found


@pytest.mark.parametrize("declared", [False, True])
@pytest.mark.parametrize("component", TRACED)
def test_a_judge_does_not_grow_with_its_run(component: Component, declared: bool) -> None:
    deviations = (DEVIATIONS[component],) if declared else ()
    early, late = sizes(component, 2_402, (1_200, 2_400), deviations=deviations)
    assert late < early * 1.1


@pytest.mark.parametrize("component", TRACED)
def test_a_judge_that_keeps_names_grows(component: Component) -> None:
    """Control the test above: the size shows what is kept."""
    early, late = sizes(component, 1_202, (400, 1_200), keeps_names=True)
    assert late > early * 1.7


@pytest.mark.large
@pytest.mark.parametrize("component", TRACED)
def test_a_judge_does_not_grow_in_200_000_steps(component: Component) -> None:
    found = sizes(component, 200_402, (1_200, 100_800, 200_400))
    assert max(found) < min(found) * 1.1
