"""The folder: parts are whole or not there, and a result takes the place of the one before."""

from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from purgatory_conformance.command_line import Problem
from purgatory_pipeline.campaigns.folder import CampaignFolder, Identity
from purgatory_pipeline.campaigns.tables import DONE, table_of
from purgatory_spec.messages import Implementation

IDENTITY = Identity(
    subject="bundled", implementation=Implementation("ours", "1"), model_version="1+abc"
)


def done(*runs: str) -> pa.Table:
    visits = [{"rule": "TIMER-SIZE", "visits": 3}]
    rows = (
        (*("timer", number, run), "pass", 5, "", "", "", "", visits)
        for number, run in enumerate(runs)
    )
    return table_of(rows, DONE)


def names(folder: CampaignFolder) -> list[str]:
    return sorted(folder.done().column("run").to_pylist())


@pytest.fixture
def folder(tmp_path: Path) -> CampaignFolder:
    made = CampaignFolder(tmp_path / "campaign")
    made.begin(IDENTITY, resume=False)
    return made


def test_parts_are_put_together(folder: CampaignFolder) -> None:
    """
    Given two waves
    When they are put on record
    Then all their rows are there, and a wave that is put there twice is there once
    """
    assert names(folder) == []
    folder.add(done("b", "a"))
    folder.add(done("c"))
    folder.add(done("a", "b"))
    assert names(folder) == ["a", "b", "c"]
    assert folder.done().schema == DONE


def test_what_was_not_finished_does_not_count(folder: CampaignFolder) -> None:
    """
    Given a part that was being written when the campaign was killed
    When the campaign is taken up
    Then it is gone, and the finished part is there
    """
    folder.add(done("a"))
    (folder.parts / "part-0123.unfinished").write_bytes(b"PAR1 half of it")
    assert names(folder) == ["a"]
    folder.begin(IDENTITY, resume=True)
    assert names(folder) == ["a"]
    assert [path.suffix for path in folder.parts.iterdir()] == [".parquet"]


def test_beginning_anew_forgets_the_parts(folder: CampaignFolder) -> None:
    """
    Given a part
    When the campaign begins anew
    Then nothing is on record
    """
    folder.add(done("a"))
    folder.begin(IDENTITY, resume=False)
    assert names(folder) == []


OTHERS = [
    ("subject", "mutant:rounds-up", 'another subject: "bundled", not "mutant:rounds-up"'),
    ("implementation", Implementation("ours", "2"), "another implementation"),
    ("model_version", "2+abc", "another model version"),
    ("deviations", ("TIMER-SIZE uncounted",), "another deviations"),
    ("format", 2, "another format: 1, not 2"),
]


@pytest.mark.parametrize(("field", "value", "words"), OTHERS, ids=lambda each: str(each)[:20])
def test_a_campaign_on_something_else_is_not_taken_up(
    field: str, value: object, words: str, folder: CampaignFolder
) -> None:
    """
    Given a campaign on record
    When one on another subject, or by another suite, is to take it up
    Then a sentence says what differs, nothing is lost, and without --resume it begins anew
    """
    folder.add(done("a"))
    other = msgspec.structs.replace(IDENTITY, **{field: value})
    with pytest.raises(Problem, match=words) as raised:
        folder.begin(other, resume=True)
    assert raised.value.exit_code == 2
    assert names(folder) == ["a"]
    folder.begin(other, resume=False)
    assert names(folder) == []


def test_a_damaged_part_is_named(folder: CampaignFolder) -> None:
    """
    Given a part that is no Parquet
    When the parts are read
    Then a sentence names it and says what to do
    """
    folder.add(done("a"))
    (part,) = folder.parts.iterdir()
    part.write_bytes(part.read_bytes()[:-10])
    with pytest.raises(Problem, match=rf"{part.name} cannot be read .*; remove it"):
        folder.done()


def test_a_damaged_header_is_named(folder: CampaignFolder) -> None:
    """
    Given a folder whose header is no JSON
    When it is to be taken up
    Then a sentence names the file
    """
    (folder.path / "campaign.json").write_text("{", encoding="utf-8")
    with pytest.raises(Problem, match=r"campaign\.json cannot be read"):
        folder.begin(IDENTITY, resume=True)


def test_a_result_takes_the_place_of_the_one_before(folder: CampaignFolder) -> None:
    """
    Given a result
    When another is being made
    Then the first is whole until the other is, of which the manifest then tells
    """
    staging = folder.staging()
    (staging / "replays").mkdir()
    (staging / "replays" / "a.jsonl").write_text("{}\n", encoding="utf-8")
    folder.finish(staging, {"runs": done("a", "b")})
    manifest = msgspec.json.decode((folder.result / "manifest.json").read_bytes())
    assert {name: each["rows"] for name, each in manifest["files"].items()} == {
        "replays/a.jsonl": None,
        "runs.parquet": 2,
    }
    second = folder.staging()
    assert (folder.result / "runs.parquet").exists()
    folder.finish(second, {"runs": done("c")})
    assert not (folder.result / "replays").exists()
    assert sorted(path.name for path in folder.path.iterdir()) == [
        "campaign.json",
        "parts",
        "result",
    ]
    changed = msgspec.json.decode((folder.result / "manifest.json").read_bytes())
    assert changed["files"]["runs.parquet"]["rows"] == 1
    assert changed["files"]["runs.parquet"] != manifest["files"]["runs.parquet"]
