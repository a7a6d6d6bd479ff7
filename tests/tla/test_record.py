"""The record of TLC's results is of the sources as they are, and nothing that changed is taken."""

import ast
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from purgatory_tla.manifest.models import compare
from tests.sources import code_of

from .record import (
    EQUAL,
    Inputs,
    Recorded,
    bindings,
    code_of_module,
    installed,
    live_in_every_run,
    models,
    module_texts,
    out_of_date,
    read_record,
    result_of,
)


@pytest.fixture(scope="module")
def record() -> Mapping[tuple[str, str], Recorded]:
    return read_record()


def test_the_record_is_of_these_sources(record: Mapping[tuple[str, str], Recorded]) -> None:
    """Find nothing out of date and no other lines; else: ``make record``."""
    assert list(out_of_date(record, installed())) == [], "run `make record`"
    assert record.keys() == {
        *(("model", name) for name in models()),
        *(("comparison", name) for name in bindings()),
    }


def test_what_is_recorded_is_what_the_manifest_expects(
    record: Mapping[tuple[str, str], Recorded],
) -> None:
    for name, model in models().items():
        found = result_of(record["model", name].found)
        assert compare(model, found, exactly=True) == [], name
    for name in bindings():
        assert record["comparison", name].found["verdict"] == EQUAL, name


def test_another_count_than_that_of_the_manifest_is_noticed(
    record: Mapping[tuple[str, str], Recorded],
) -> None:
    model = models()["timer-all-rules"]
    found = dict(record["model", model.name].found)
    assert isinstance(found["distinct"], int)
    found["distinct"] -= 1
    assert compare(model, result_of(found), exactly=True) == ["expected distinct 243, found 242"]


def test_of_each_module_a_claim_and_a_must_fail_run_every_time() -> None:
    live = live_in_every_run()
    for kind in {(model.module, model.kind.value) for model in models().values()}:
        mine = {m.name for m in models().values() if (m.module, m.kind.value) == kind}
        assert kind[1] == "witness" or any(("model", name) in live for name in mine), kind
    modules = {made().module for made in bindings().values()}
    assert {bindings()[name]().module for sort, name in live if sort == "comparison"} == modules


@pytest.fixture
def copied(tmp_path: Path) -> Inputs:
    here = installed()
    shutil.copytree(here.modules / "models", tmp_path / "tla" / "models")
    for path in here.modules.glob("*.tla"):
        shutil.copy(path, tmp_path / "tla")
    packages = {}
    for name, folder in here.packages.items():
        packages[name] = tmp_path / name
        ignored = shutil.ignore_patterns("__pycache__", "data")
        shutil.copytree(folder, packages[name], ignore=ignored)
    return Inputs(tmp_path / "tla", packages)


def refused(record: Mapping[tuple[str, str], Recorded], inputs: Inputs) -> set[tuple[str, str]]:
    return set(out_of_date(record, inputs))


def test_nothing_of_an_equal_copy_is_refused(
    copied: Inputs, record: Mapping[tuple[str, str], Recorded]
) -> None:
    """Expect the same digests of a copy in another folder: no path is an input."""
    assert refused(record, copied) == set()


def test_a_changed_line_of_a_module_is_refused(
    copied: Inputs, record: Mapping[tuple[str, str], Recorded]
) -> None:
    path = copied.modules / "Timer.tla"
    lines = path.read_text(encoding="utf-8").splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("Init =="))
    lines[place] += " /\\ TRUE"
    path.write_text("\n".join(lines), encoding="utf-8")
    over_it = {"Timer", "TimerHistory", "TimingWheel", "TimingWheelHistory", "TimingWheelSteps"}
    assert refused(record, copied) == {
        *(("model", name) for name, each in models().items() if each.module in over_it),
        *(("comparison", n) for n, made in bindings().items() if made().module in over_it),
    }


def test_a_comment_of_a_module_is_no_input_and_a_type_is_one(
    copied: Inputs, record: Mapping[tuple[str, str], Recorded]
) -> None:
    path = copied.modules / "OperationLock.tla"
    text = path.read_text(encoding="utf-8")
    words = "(* A (* nested *)\n   comment. *)\n\\* @type: Int => Int;\nInit =="
    path.write_text(text.replace("\nInit ==", f"\n{words}", 1), encoding="utf-8")
    assert refused(record, copied) == set()
    path.write_text(text.replace("@type: ", "@type: Str -> ", 1), encoding="utf-8")
    mine = {name for name, each in models().items() if each.module == "OperationLock"}
    assert refused(record, copied) == {("model", name) for name in mine}


def test_code_of_a_module_keeps_strings_and_columns() -> None:
    text = 'A == "(* no *)" \\* yes\n(* y\n *) B == 1\n\n'
    assert code_of_module(text) == 'A == "(* no *)"\n    B == 1'


def test_a_changed_line_of_a_configuration_is_refused(
    copied: Inputs, record: Mapping[tuple[str, str], Recorded]
) -> None:
    path = copied.modules / "models" / "MemoryPool.cfg"
    path.write_text(path.read_text(encoding="utf-8") + "\nCONSTRAINT Short\n", encoding="utf-8")
    mine = {name for name, each in models().items() if each.configuration == "MemoryPool.cfg"}
    assert mine
    assert refused(record, copied) == {("model", name) for name in mine}


def test_a_changed_entry_of_the_manifest_is_refused(
    record: Mapping[tuple[str, str], Recorded], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Take a constant of a model for an input of its result, and its title for none."""
    first, second, *_ = [each for each in models().values() if each.constants]
    changed = {
        **models(),
        first.name: msgspec.structs.replace(first, constants={**first.constants, "Last": "9"}),
        second.name: msgspec.structs.replace(second, title="Another title."),
    }
    monkeypatch.setattr("tests.tla.record.models", lambda: changed)
    assert refused(record, installed()) == {("model", first.name)}


@pytest.mark.parametrize(
    ("package", "file"),
    [
        pytest.param("purgatory_model", "concurrent/memory_pool/model.py", id="a model"),
        pytest.param("purgatory_tla", "bindings/memory_pool.py", id="a binding"),
    ],
)
def test_a_changed_line_of_a_model_or_a_binding_is_refused(
    package: str, file: str, copied: Inputs, record: Mapping[tuple[str, str], Recorded]
) -> None:
    path = copied.packages[package] / file
    text = path.read_text(encoding="utf-8")
    path.write_text(f"# Another comment.\n{text}", encoding="utf-8")
    assert refused(record, copied) == set()
    path.write_text(f"{text}\nCHANGED = 1\n", encoding="utf-8")
    gone = refused(record, copied)
    assert {kind for kind, _ in gone} == {"comparison"}
    names = {name for _, name in gone}
    modules = {name: made().module for name, made in bindings().items()}
    assert {name for name, module in modules.items() if module == "MemoryPoolHistory"} <= names
    assert not {name for name, module in modules.items() if module == "TimerHistory"} & names


def test_an_unknown_result_is_refused(record: Mapping[tuple[str, str], Recorded]) -> None:
    key = ("model", "timer-all-rules")
    without = {each: line for each, line in record.items() if each != key}
    assert refused(without, installed()) == {key}
    other = {**record, key: replace(record[key], digest="0" * 64)}
    assert refused(other, installed()) == {key}


def test_modules_are_followed_through_extends_and_instance() -> None:
    texts = module_texts(installed().modules, "TimingWheelSteps")
    assert set(texts) == {
        "TimingWheelSteps",
        "TimingWheelSteps.tla",
        "TimingWheel.tla",
        "Timer.tla",
    }


def test_code_is_a_text_without_comments_and_docstrings() -> None:
    text = '''"""Says."""\n\nNAME = "a # b"  # why\n\n\ndef f() -> None: ...\n'''
    assert code_of(text, ast.parse(text)) == 'NAME = "a # b"\ndef f() -> None: ...'
