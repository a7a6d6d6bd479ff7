"""Items that are sorted on disk are sorted as in memory."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purgatory_traces.engines.external_sort import ExternalSort, Key, _Chunk


class Thing(NamedTuple):
    """Something to be sorted; ``told`` is not compared."""

    name: str
    number: int
    told: bytes | None = None
    names: tuple[str, ...] = ()


def by_name(thing: Thing) -> Key:
    return thing.name, thing.number


things = st.builds(
    Thing, st.text(max_size=3), st.integers(-3, 3), st.none() | st.binary(max_size=4)
)


@settings(max_examples=50)
@given(given=st.lists(things, max_size=60), chunk_bytes=st.sampled_from([1, 700, 2000, 1 << 20]))
def test_the_order_is_that_of_a_sort_in_memory(given: list[Thing], chunk_bytes: int) -> None:
    with ExternalSort(Thing, by_name, None, chunk_bytes) as sorting:
        for thing in given:
            sorting.add(thing)
        assert list(sorting.in_order()) == sorted(given, key=by_name)


def test_nothing_is_written_where_all_fits_into_memory(tmp_path: Path) -> None:
    with ExternalSort(Thing, by_name, tmp_path) as sorting:
        for number in range(100, 0, -1):
            sorting.add(Thing("a", number))
        assert [each.number for each in sorting.in_order()] == list(range(1, 101))
        assert list(tmp_path.iterdir()) == []


class Counting(ExternalSort[Thing]):
    """Counts the items that are written to files."""

    written = 0

    def _write(self, items: Iterable[Thing], level: int = 0) -> _Chunk[Thing]:
        return super()._write(self._counted(items), level)

    def _counted(self, items: Iterable[Thing]) -> Iterator[Thing]:
        for item in items:
            self.written += 1
            yield item


@pytest.mark.parametrize(
    ("chunks", "writes", "files"), [(64, 1, 64), (500, 2, 64), (4095, 2, 64), (4097, 3, 2)]
)
def test_chunks_are_merged_in_levels(tmp_path: Path, chunks: int, writes: int, files: int) -> None:
    """Write each item once for each level, and few once more at the end."""
    with Counting(Thing, by_name, tmp_path, chunk_bytes=1) as sorting:
        for number in range(chunks, 0, -1):
            sorting.add(Thing("a", number))
        in_order = sorting.in_order()
        assert len(list(tmp_path.rglob("*.chunk"))) <= files
        assert [each.number for each in in_order] == list(range(1, chunks + 1))
        assert chunks * (writes - 1) < sorting.written <= chunks * writes + 64
    assert list(tmp_path.iterdir()) == []


def test_items_with_equal_keys_keep_their_order_over_all_levels(tmp_path: Path) -> None:
    """Let keys fall and rise, so that chunks are joined, merged, and merged again."""
    things = [Thing("a", number * 7 % 11, b"%d" % number) for number in range(9000)]
    with ExternalSort(Thing, by_name, tmp_path, chunk_bytes=1) as sorting:
        for thing in things:
            sorting.add(thing)
        assert list(sorting.in_order()) == sorted(things, key=by_name)


def test_items_that_come_in_order_are_written_once(tmp_path: Path) -> None:
    with Counting(Thing, by_name, tmp_path, chunk_bytes=1) as sorting:
        for number in range(500):
            sorting.add(Thing("a", number))
        assert [each.number for each in sorting.in_order()] == list(range(500))
        assert sorting.written == 500


def test_files_are_removed_when_something_fails(tmp_path: Path) -> None:
    def fail() -> None:
        with ExternalSort(Thing, by_name, tmp_path, 1) as sorting:
            for number in range(10):
                sorting.add(Thing("a", number))
            assert any(tmp_path.rglob("*.chunk"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_few_files_are_open_at_a_time(tmp_path: Path) -> None:
    descriptors = Path("/proc/self/fd")
    if not descriptors.exists():
        pytest.skip("open files cannot be counted here")
    before = len(list(descriptors.iterdir()))
    with ExternalSort(Thing, by_name, tmp_path, chunk_bytes=1) as sorting:
        for number in range(300, 0, -1):
            sorting.add(Thing("a", number))
        merged = sorting.in_order()
        next(merged)
        assert len(list(descriptors.iterdir())) - before <= 66
