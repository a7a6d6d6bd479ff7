"""Each foreign peer's own controls hold, and refuse a peer with one fault planted."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from .controls import GO, JVM, ROOT, RUST, Copy, Peer, need, run

pytestmark = pytest.mark.verify


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(GO, id="go"),
        pytest.param(RUST, id="rust"),
        pytest.param(JVM, id="jvm", marks=pytest.mark.java),
    ],
)
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Copy]:
    """A peer, built; without its tools, or what it depends on, a skip that says so."""
    peer: Peer = request.param
    need(peer)
    folder = tmp_path_factory.mktemp(peer.folder)
    copy = Copy(peer, ROOT, folder / "checkout", folder / "work")
    copy.fetch()
    copy.build()
    yield copy
    shutil.rmtree(folder)


@pytest.mark.large
def test_the_controls_hold(built: Copy) -> None:
    said = built.controls()
    assert (said.code, said.failed) == (0, set()), said.output
    assert built.peer.fault.refused_by in said.held, said.output


@pytest.mark.large
def test_a_planted_fault_is_refused_by_its_control_alone(built: Copy, tmp_path: Path) -> None:
    copy = Copy(built.peer, built.checkout, tmp_path, built.work)
    copy.peer.fault.plant(copy.folder)
    said = copy.controls()
    assert said.code != 0, said.output
    assert said.failed == {copy.peer.fault.refused_by}, said.output
    assert said.held, said.output


# With tools that are not there, or do not do what they should


def stand_in(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def copy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Copy:
    """The peer in Rust, and stand-ins alone for its tools."""
    if shutil.which("sh") is None:
        pytest.skip("the stand-ins are shell scripts")
    monkeypatch.setenv("PATH", str(tmp_path))
    return Copy(RUST, ROOT, tmp_path / "checkout", tmp_path / "work")


def test_what_cannot_be_fetched_is_told_in_the_tools_words(
    copy: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, "cargo", "echo 'error: no crate'; exit 101")
    words = "what lab/peers/rust needs cannot be had: error: no crate"
    monkeypatch.delenv("REQUIRE_TOOLCHAINS", raising=False)
    with pytest.raises(pytest.skip.Exception, match=words):
        copy.fetch()
    monkeypatch.setenv("REQUIRE_TOOLCHAINS", "1")
    with pytest.raises(pytest.fail.Exception, match=words):
        copy.fetch()
    stand_in(tmp_path, "cargo", "exit 0")
    copy.fetch()


def test_controls_are_told_by_name_and_not_believed_without_their_code(
    copy: Copy, tmp_path: Path
) -> None:
    stand_in(tmp_path, "cargo", "echo 'test a ... ok'; echo 'test b ... FAILED'; exit 3")
    said = copy.controls()
    assert (said.code, said.held, said.failed) == (3, {"a"}, {"b"})
    stand_in(tmp_path, "cargo", "echo 'running 0 tests'")
    said = copy.controls()
    assert (said.code, said.held, said.failed) == (0, set(), set())


@pytest.mark.slow
def test_a_tool_that_does_not_end_is_ended_with_what_it_has_started(tmp_path: Path) -> None:
    sh = shutil.which("sh")
    if sh is None:
        pytest.skip("the stand-ins are shell scripts")
    late = "echo begun; (sleep 2; touch late) & wait"
    with pytest.raises(pytest.fail.Exception, match=r"took more than 0\.5 s\nbegun\n"):
        run([sh, "-c", late], tmp_path, seconds=0.5)
    assert run([sh, "-c", "sleep 2; ls"], tmp_path) == (0, "controls.log\n")
