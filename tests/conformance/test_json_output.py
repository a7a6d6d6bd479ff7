"""``--json``: what the commands print for people, as values for programs."""

import json
from pathlib import Path
from typing import Any

import pytest

from purgatory_conformance.specimens.mutants import mutants
from purgatory_spec.requirements import all_requirements
from tests.conformance.command import purgatory


def printed(folder: Path, *words: str, code: int = 0) -> Any:
    ended = purgatory(folder, *words, "--json")
    assert ended.returncode == code, ended.stderr
    return json.loads(ended.stdout)


def test_rules_as_json_are_the_rules(tmp_path: Path) -> None:
    assert printed(tmp_path, "list", "rules") == [
        {"rule": rule.id, "level": rule.level.value, "title": rule.title}
        for rule in all_requirements()
    ]


@pytest.mark.parametrize("what", ["vectors", "subjects", "profiles", "mutants", "variants"])
def test_each_list_has_as_many_objects_as_rows(what: str, tmp_path: Path) -> None:
    """Each row is an object: the words of one are those of the other."""
    table = purgatory(tmp_path, "list", what, environment={"COLUMNS": "500"})
    objects = printed(tmp_path, "list", what)
    words = " ".join(table.stdout.partition("\n")[2].split())
    assert words == " ".join(" ".join(" ".join(each.values()) for each in objects).split())


def test_a_rule_is_explained_as_json(tmp_path: Path) -> None:
    told = printed(tmp_path, "explain", "TIMER-ZERO-DELAY")
    assert (told["id"], told["level"]) == ("TIMER-ZERO-DELAY", "MUST")
    assert {"name": "zero-dropped", "summary": "Drops a task whose delay is zero."} in (
        told["mutants"]
    )
    packages = {each["package"] for each in told["statements"]}
    assert packages >= {"purgatory_model", "purgatory_impl"}
    assert {each["name"] for each in told["vectors"]} != set()


def test_the_doctor_speaks_json(tmp_path: Path) -> None:
    """All findings are told, the verdict last, and the exit code is as for people."""
    *lines, verdict = printed(tmp_path, "doctor", "heap-timer")
    assert verdict["verdict"] == "ok"
    assert lines[0]["sent"].startswith('{"request":"hello"')
    *_, wrong = printed(tmp_path, "doctor", "--command", "false", code=3)
    assert wrong["verdict"] == "wrong"


def test_an_exploration_as_json(tmp_path: Path) -> None:
    """JSON says what came of it, with a counterexample, and the exit code is as for people."""
    found = printed(tmp_path, "model", "explore", "--tasks", "1")
    assert (found["complete"], found["narrative"]) == (True, None)
    assert found["states"] > 10
    limited = printed(tmp_path, "model", "explore", "--tasks", "1", "--limit", "5", code=4)
    assert limited["complete"] is False

    shelves = printed(tmp_path, "model", "explore", "--list")
    wrong = next(
        (shelf, claim)
        for shelf in shelves
        for claim in shelf["claims"]
        if claim["standing"] == "false" and not shelf["concurrent"] and not claim["options"]
    )
    shelf, claim = wrong
    words = ["--component", shelf["component"], "--claim", claim["name"]]
    told = printed(tmp_path, "model", "explore", *words, code=1)
    assert told["narrative"]["steps"][-1]["text"]


def test_what_can_be_planted_as_json(tmp_path: Path) -> None:
    told = printed(tmp_path, "model", "break", "list", "--component", "memory_pool")
    pools = [each.name for each in mutants() if each.component.value == "memory_pool"]
    assert [each["name"] for each in told["mutants"]] == pools
    assert told["tla"]
    refused = purgatory(tmp_path, "model", "break", "run", "--all", "--json")
    assert refused.returncode == 2


@pytest.mark.slow
def test_who_catches_a_mutant_as_json(tmp_path: Path) -> None:
    words = ("model", "break", "run", "zero-dropped", "--cases", "60")
    told = printed(tmp_path, *words)
    assert told["mutant"]["rule"] == "TIMER-ZERO-DELAY"
    assert told["caught_by"]["rule"].startswith("TIMER-")


def test_the_models_of_the_manifest_as_json(tmp_path: Path) -> None:
    told = printed(tmp_path, "tla", "list", "--kind", "claim")
    assert "timer-all-rules" in {each["name"] for each in told}
    assert len(told) > 50
