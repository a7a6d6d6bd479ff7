"""Every small model of the manifest finds exactly what is recorded, and can be told."""

import pytest

from purgatory_tla.manifest.manifest import Mode, Model, RunTime, read_manifest
from purgatory_tla.manifest.models import Agreement, Settings, run_model
from purgatory_tla.resources import modules_folder
from purgatory_tla.views import VIEWS
from purgatory_tla.views.narration import narrate

from ..record import agree_with_the_record, found_by_model, marks_of

SMALL = [model for model in read_manifest().models if model.run_time is RunTime.SMALL]


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [pytest.param(each, id=each.name, marks=marks_of("model", each.name)) for each in SMALL],
)
def test_a_small_model_finds_what_is_recorded(model: Model) -> None:
    finding = run_model(model, Settings(modules_folder(), timeout=1800))
    assert (finding.standing, finding.differences) == (Agreement.AS_EXPECTED, ())
    if model.mode is not Mode.PROOF:
        agree_with_the_record("model", model.name, found_by_model(finding))
    if finding.result is not None and finding.result.trace is not None:
        told = narrate(model, finding.result, modules_folder())
        assert all(step.actor and step.text for step in told.steps[1:]), told.steps
        assert told.steps[-1].remark


def test_every_module_has_its_counts() -> None:
    modules = {model.module for model in read_manifest().models if model.mode is not Mode.PROOF}
    assert modules <= set(VIEWS)
