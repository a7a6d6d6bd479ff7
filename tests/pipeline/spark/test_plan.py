from pathlib import Path

import pytest

from purgatory_spark.engine import engine


def sparse(path: Path, size: int) -> Path:
    with path.open("wb") as file:
        file.truncate(size)
    return path


def test_small_files_make_one_task_of_each_kind(tmp_path: Path) -> None:
    files = [sparse(tmp_path / f"{name}.jsonl", 1000) for name in "cab"]
    names = tuple(str(tmp_path / f"{name}.jsonl") for name in "abc")
    assert engine.plan_of(files) == engine.Plan(names, ((0, 1, 2),), partitions=1)


def test_shares_are_of_about_equal_size_and_hold_each_file_once(tmp_path: Path) -> None:
    sizes = [engine.BYTES_OF_A_SHARE // part for part in (1, 2, 2, 3, 4, 5, 8, 8)]
    files = [sparse(tmp_path / f"{number}.jsonl", size) for number, size in enumerate(sizes)]
    plan = engine.plan_of(files)
    loads = [sum(sizes[file] for file in share) for share in plan.shares]
    assert sorted(file for share in plan.shares for file in share) == list(range(len(files)))
    assert len(loads) == -(-sum(sizes) // engine.BYTES_OF_A_SHARE)
    assert max(loads) <= engine.BYTES_OF_A_SHARE < 2 * min(loads)


def test_partitions_follow_from_the_bytes_of_lines(tmp_path: Path) -> None:
    plain = sparse(tmp_path / "a.jsonl", 5 * engine.BYTES_OF_A_PARTITION)
    packed = sparse(tmp_path / "a.jsonl.gz", engine.BYTES_OF_A_PARTITION)
    assert engine.plan_of([plain]).partitions == 5
    assert engine.plan_of([packed]).partitions == 10


def test_no_more_shares_than_files(tmp_path: Path) -> None:
    assert engine.plan_of([sparse(tmp_path / "a.jsonl", 1 << 40)]).shares == ((0,),)


@pytest.mark.parametrize("files", [[], ["nowhere.jsonl"]])
def test_nothing_and_a_missing_file_have_a_plan(files: list[str]) -> None:
    plan = engine.plan_of(files)
    assert (plan.files, len(plan.shares), plan.partitions) == (tuple(files), 1, 1)


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    file = sparse(tmp_path / "a.jsonl", 10)
    assert engine.plan_of([file, str(file)]).files == (str(file),)
