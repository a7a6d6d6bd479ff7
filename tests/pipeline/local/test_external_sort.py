"""Items that are sorted on disk are sorted as in memory."""

from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purgatory_traces.engines.external_sort import ExternalSort, Key


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


@pytest.mark.parametrize("descending", [False, True])
def test_more_files_than_may_be_open_are_merged_and_removed(
    tmp_path: Path, descending: bool
) -> None:
    numbers = list(range(500))
    with ExternalSort(Thing, by_name, tmp_path, chunk_bytes=1) as sorting:
        for number in reversed(numbers) if descending else numbers:
            sorting.add(Thing("a", number, b"x" * number, ("b", "c")))
        assert 0 < sorting.chunks_written <= 65
        merged = list(sorting.in_order())
        assert merged == [Thing("a", n, b"x" * n, ("b", "c")) for n in numbers]
        assert list(tmp_path.iterdir()) != []
    assert list(tmp_path.iterdir()) == []


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
