"""The folder: parts are whole or not there, and a result takes the place of the one before."""

from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from purgatory_conformance.problems import Problem
from purgatory_spark.campaigns.folder import CampaignFolder, Identity, read_result
from purgatory_spark.campaigns.tables import DONE, table_of
from purgatory_spec.messages import Implementation
from purgatory_traces.errors import PipelineError, Refused

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
    assert names(folder) == []
    folder.add(done("b", "a"))
    folder.add(done("c"))
    folder.add(done("a", "b"))
    assert names(folder) == ["a", "b", "c"]
    assert folder.done().schema == DONE


def test_what_was_not_finished_does_not_count(folder: CampaignFolder) -> None:
    folder.add(done("a"))
    (folder.parts / "part-0123.unfinished").write_bytes(b"PAR1 half of it")
    assert names(folder) == ["a"]
    folder.begin(IDENTITY, resume=True)
    assert names(folder) == ["a"]
    assert [path.suffix for path in folder.parts.iterdir()] == [".parquet"]


def test_beginning_anew_forgets_the_parts(folder: CampaignFolder) -> None:
    folder.add(done("a"))
    folder.begin(IDENTITY, resume=False, fresh=True)
    assert names(folder) == []


def test_a_record_is_not_thrown_away_unasked(folder: CampaignFolder) -> None:
    folder.add(done("a"))
    with pytest.raises(Problem, match=r"--resume, name another --out, or .* with --fresh") as told:
        folder.begin(IDENTITY, resume=False)
    assert told.value.exit_code == 2
    assert names(folder) == ["a"]


def test_what_is_somebody_elses_stays(tmp_path: Path) -> None:
    folder = CampaignFolder(tmp_path)
    mine = [tmp_path / "results-mine", tmp_path / "staging-area"]
    ours = tmp_path / "results-fedcba9876543210"
    for each in (*mine, ours):
        each.mkdir()
    with folder.kept():
        folder.begin(IDENTITY, resume=False)
        result = finished(folder, "a")
    assert [each.exists() for each in (*mine, result)] == [True, True, True]
    assert not ours.exists(), "the control: an earlier result is removed"
    (tmp_path / "campaign.json").unlink()
    (folder.parts / "bolt.txt").touch()
    with pytest.raises(Problem, match="parts is there, and is no campaign's"):
        folder.begin(IDENTITY, resume=False, fresh=True)
    assert [each.name for each in folder.parts.iterdir()] == ["bolt.txt"]
    manifest = (tmp_path / "manifest.json").read_text(encoding="utf-8")
    of_a_check = manifest.replace('"format"', '"engine": "local", "format"')
    for other in ("{}", of_a_check):
        (tmp_path / "manifest.json").write_text(other, encoding="utf-8")
        with pytest.raises(Refused, match="is none that a campaign has written"), folder.kept():
            raise AssertionError("it has begun")


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
    folder.add(done("a"))
    other = msgspec.structs.replace(IDENTITY, **{field: value})
    with pytest.raises(Problem, match=words) as raised:
        folder.begin(other, resume=True)
    assert raised.value.exit_code == 2
    assert names(folder) == ["a"]
    folder.begin(other, resume=False, fresh=True)
    assert names(folder) == []


def test_a_damaged_part_is_named(folder: CampaignFolder) -> None:
    folder.add(done("a"))
    (part,) = folder.parts.iterdir()
    part.write_bytes(part.read_bytes()[:-10])
    with pytest.raises(Problem, match=rf"{part.name} cannot be read .*; remove it"):
        folder.done()


def test_a_damaged_header_is_named(folder: CampaignFolder) -> None:
    (folder.path / "campaign.json").write_text("{", encoding="utf-8")
    with pytest.raises(Problem, match=r"campaign\.json cannot be read"):
        folder.begin(IDENTITY, resume=True)


def finished(folder: CampaignFolder, *runs: str) -> Path:
    staging = folder.staging()
    (staging / "replays").mkdir()
    (staging / "replays" / f"{runs[0]}.jsonl").write_text("{}\n", encoding="utf-8")
    return folder.finish(staging, {"runs": done(*runs)})


def files_of(folder: CampaignFolder) -> dict[str, int | None]:
    manifest = msgspec.json.decode((folder.path / "manifest.json").read_bytes())
    assert read_result(folder.path) == folder.path / manifest["folder"]
    return {each["name"]: each["rows"] for each in manifest["files"]}


def test_a_result_takes_the_place_of_the_one_before(folder: CampaignFolder) -> None:
    first = finished(folder, "a", "b")
    assert files_of(folder) == {"replays/a.jsonl": None, "runs.parquet": 2}
    (folder.staging() / "runs.parquet").write_bytes(b"half of it")
    assert files_of(folder) == {"replays/a.jsonl": None, "runs.parquet": 2}
    second = finished(folder, "c")
    assert files_of(folder) == {"replays/c.jsonl": None, "runs.parquet": 1}
    assert not first.exists()
    left = {path.name for path in folder.path.iterdir()}
    assert left == {"campaign.json", "manifest.json", "parts", second.name}


def test_the_same_result_has_the_same_name(folder: CampaignFolder) -> None:
    place = finished(folder, "a")
    assert finished(folder, "a") == place
    (place / "runs.parquet").write_bytes(b"damaged")
    assert finished(folder, "a") == place
    assert files_of(folder) == {"replays/a.jsonl": None, "runs.parquet": 1}


def test_a_damaged_result_is_none(folder: CampaignFolder) -> None:
    (finished(folder, "a") / "runs.parquet").write_bytes(b"damaged")
    with pytest.raises(PipelineError, match=r"runs\.parquet is not what the campaign wrote"):
        read_result(folder.path)
    (finished(folder, "a") / "replays" / "a.jsonl").unlink()
    with pytest.raises(PipelineError, match=r"a\.jsonl cannot be read: No such file"):
        read_result(folder.path)
    (folder.path / "manifest.json").unlink()
    with pytest.raises(PipelineError, match="there is no result of a campaign"):
        read_result(folder.path)


def test_two_campaigns_do_not_share_a_folder(folder: CampaignFolder) -> None:
    with folder.kept(), pytest.raises(PipelineError, match="another process"), folder.kept():
        raise AssertionError("two at a time")
    with folder.kept():
        assert names(folder) == []
