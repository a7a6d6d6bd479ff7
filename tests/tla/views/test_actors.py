"""Every action has its trace line, and the thread that acts is found."""

import re
from collections.abc import Mapping

import pytest
from itf_py import value_from_json

from purgatory_tla.modules.vocabulary import Owned, vocabulary
from purgatory_tla.resources import modules_folder
from purgatory_tla.views.actors import Told, tell

from ..conftest import Toys

MODULES = sorted(path.stem for path in modules_folder().glob("*.tla"))
NAME = re.compile(r"[A-Za-z_]\w*")


def actions(known: Mapping[str, Owned]) -> dict[str, Owned]:
    """Return the definitions that ``Next`` leads to, with a trace line; else those that prime."""
    # A step that leaves all variables alone is in no trace, and needs no line.
    found: dict[str, Owned] = {}
    seen: set[str] = set()
    waiting = ["Next"] if "Next" in known else []
    while waiting:
        owned = known[name := waiting.pop()]
        seen.add(name)
        body = re.sub(r'"[^"]*"', "", owned.body)
        if owned.definition.annotation("says") or "'" in body or "UNCHANGED" in body:
            if "'" in body or "UNCHANGED vars" not in body:
                found[name] = owned
        else:
            waiting += [each for each in NAME.findall(body) if each in known and each not in seen]
    return found


def says(owned: Owned) -> list[str]:
    return [text for kind, text in owned.definition.annotations if kind == "says"]


@pytest.mark.parametrize("module", MODULES)
def test_every_action_has_one_trace_line(module: str) -> None:
    lines = {
        name: says(owned) for name, owned in actions(vocabulary(modules_folder(), module)).items()
    }
    assert {name: len(each) for name, each in lines.items()} == dict.fromkeys(lines, 1)
    form = re.compile(r"[\w ]+( {self})?: .+")
    assert [each for each in lines.values() if not form.fullmatch(each[0])] == []


def test_an_action_without_a_trace_line_is_found(toys: Toys) -> None:
    path = toys.folder / "Toy.tla"
    text = path.read_text(encoding="utf-8").replace("\\* @says self: begins at {total}\n", "")
    path.write_text(text, encoding="utf-8")
    found = actions(vocabulary(toys.folder, "Toy"))
    assert {name: len(says(each)) for name, each in found.items()} == {"Begin": 0, "Add": 1}


def step(
    toys: Toys, action: str, before: dict[str, str], after: dict[str, str], says: str = ""
) -> Told:
    if says:
        path = toys.folder / "Toy.tla"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("self: begins at {total}", says), encoding="utf-8")
    states = [
        {"total": 1, "pc": value_from_json({"#map": [[name, at] for name, at in places.items()]})}
        for places in (before, after)
    ]
    return tell(action, states[0], states[1], vocabulary(toys.folder, "Toy"))


def test_the_thread_whose_place_changes_acts(toys: Toys) -> None:
    told = step(toys, "Begin", {"a": "idle", "b": "idle"}, {"a": "idle", "b": "busy"})
    assert told == Told("b", "begins at 1")


def test_of_two_moved_threads_the_one_at_the_actions_place_acts(toys: Toys) -> None:
    told = step(toys, "Begin", {"a": "waits", "b": "idle"}, {"a": "woken", "b": "busy"})
    assert told.actor == "b"


def test_a_column_of_its_own_and_an_unknown_action(toys: Toys) -> None:
    places = {"a": "idle"}, {"a": "busy"}
    assert step(toys, "Begin", *places, says="timer: goes on") == Told("timer", "goes on")
    assert step(toys, "Leap", *places) == Told("", "Leap")


def test_an_action_may_say_by_which_variable_its_actor_is_found(toys: Toys) -> None:
    path = toys.folder / "Toy.tla"
    text = path.read_text(encoding="utf-8")
    says = "@self round\n\\* @says thread {self}: {round[self]} is over"
    path.write_text(text.replace("@says self: begins at {total}", says), encoding="utf-8")
    known = vocabulary(toys.folder, "Toy")

    def told(first: str, second: str) -> Told:
        before, after = (
            {"round": value_from_json({"#map": [[1, one], [2, two]]})}
            for one, two in (("poll", "poll"), (first, second))
        )
        return tell("Begin", before, after, known)

    assert told("poll", "select") == Told("thread 2", "poll is over")
    assert told("select", "select") == told("poll", "poll") == Told("thread ?", "? is over")
    assert tell("Begin", {"round": 1}, {"round": 2}, known).actor == "thread ?"


def test_a_step_that_changes_nothing_of_any_thread_is_someones(toys: Toys) -> None:
    places = {"a": "idle", "b": "idle"}
    assert step(toys, "Begin", places, places) == Told("someone", "begins at 1")
