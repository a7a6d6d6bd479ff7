"""The command that adds an extra names the place that the installation came from."""

import importlib.util
import json
import shlex
import sys

import pytest

from purgatory_spec import installing
from purgatory_spec.installing import command_for


def recorded(monkeypatch: pytest.MonkeyPatch, origin: object) -> None:
    text = None if origin is None else json.dumps(origin)
    monkeypatch.setattr(installing, "_recorded", lambda: text)


@pytest.mark.parametrize(
    ("origin", "wanted"),
    [
        (None, ["purgatory-spec[tla]"]),
        (
            {"url": "file:///a/dist/it.whl", "archive_info": {"hash": "sha256=0"}},
            ["purgatory-spec[tla] @ file:///a/dist/it.whl"],
        ),
        ({"url": "file:///a", "dir_info": {}}, ["purgatory-spec[tla] @ file:///a"]),
        ({"url": "file:///a%20b", "dir_info": {"editable": True}}, ["--editable", "/a b[tla]"]),
    ],
    ids=["from an index", "a wheel", "a checkout", "an editable checkout"],
)
def test_it_names_where_the_installation_came_from(
    monkeypatch: pytest.MonkeyPatch, origin: object, wanted: list[str]
) -> None:
    recorded(monkeypatch, origin)
    assert shlex.split(command_for("tla")) == [sys.executable, "-m", "pip", "install", *wanted]


def test_where_there_is_no_pip_it_names_uv(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(monkeypatch, None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    expected = ["uv", "pip", "install", "--python", sys.executable, "purgatory-spec[tla]"]
    assert shlex.split(command_for("tla")) == expected


def test_this_installation_is_recorded() -> None:
    assert "purgatory-spec" not in shlex.split(command_for("tla"))[-1]
