"""Several models at a time: all are run, and none goes on when the campaign is over."""

import threading
import time

import pytest

from purgatory_tla.checkers.tlc.log import Progress
from purgatory_tla.errors import MissingTool
from purgatory_tla.manifest import campaign
from purgatory_tla.manifest.campaign import run_models
from purgatory_tla.manifest.manifest import Model
from purgatory_tla.manifest.models import Agreement, Finding, Settings

from ..conftest import Toys

LONG_S = 120
"""A limit that only a test that hangs reaches."""


def finding(model: Model) -> Finding:
    return Finding(model, Agreement.AS_EXPECTED, "success", (), None, "")


def models(toys: Toys, count: int, **changes: object) -> list[Model]:
    return [toys.model(toys.claim, name=f"m{number}", **changes) for number in range(count)]


def test_every_model_is_run_and_told(toys: Toys, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    long_begun = threading.Event()

    def run(model: Model, settings: Settings) -> Finding:
        begun.append(model.name)
        if model.name == "long":
            long_begun.set()
        assert long_begun.wait(LONG_S)
        return finding(model)

    monkeypatch.setattr(campaign, "run_model", run)
    long = toys.model(toys.claim, name="long", run_time="large")
    heard: list[str] = []
    found = run_models(
        [*models(toys, 4), long],
        Settings(toys.folder),
        2,
        lambda model, progress: heard.append(model.name),
    )
    assert {each.model.name for each in found} == {"m0", "m1", "m2", "m3", "long"}
    assert sorted(heard) == ["long", "m0", "m1", "m2", "m3"]
    assert "long" in begun[:2]


def test_findings_come_in_the_order_given(toys: Toys, monkeypatch: pytest.MonkeyPatch) -> None:
    others = threading.Semaphore(0)

    def run(model: Model, settings: Settings) -> Finding:
        if model.name == "m0":
            assert others.acquire(timeout=LONG_S)
            assert others.acquire(timeout=LONG_S)
        else:
            others.release()
        return finding(model)

    monkeypatch.setattr(campaign, "run_model", run)
    found = run_models(models(toys, 3), Settings(toys.folder), 2, lambda model, progress: None)
    assert [each.model.name for each in found] == ["m0", "m1", "m2"]


def test_a_campaign_that_is_left_ends_its_runs(toys: Toys, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    other_begun, ended = threading.Event(), threading.Event()

    def run(model: Model, settings: Settings) -> Finding:
        begun.append(model.name)
        if model.name == "m0":
            assert other_begun.wait(LONG_S)
            return finding(model)
        other_begun.set()
        try:
            while True:
                assert settings.progress is not None
                settings.progress(Progress(0, 0, 0, 0.0))
                time.sleep(0.01)
        finally:
            ended.set()

    monkeypatch.setattr(campaign, "run_model", run)
    found = run_models(models(toys, 9), Settings(toys.folder), 2, lambda model, progress: None)
    assert next(found).model.name == "m0"
    found.close()
    assert ended.is_set()
    assert len(begun) <= 3


def test_a_missing_tool_ends_the_campaign(toys: Toys, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(model: Model, settings: Settings) -> Finding:
        raise MissingTool("install it")

    monkeypatch.setattr(campaign, "run_model", run)
    with pytest.raises(MissingTool):
        list(run_models(models(toys, 3), Settings(toys.folder), 2, lambda model, progress: None))
