"""An exception at any point of a check or a purge leaves lists that can be walked."""

import sys
from collections.abc import Callable
from itertools import count

import pytest

import purgatory_impl as impl

pytestmark = pytest.mark.pure

Counter = Callable[[object, str, object], None]


class Request(impl.DelayedOperation):
    """Is completed by the first try after its event."""

    def __init__(self) -> None:
        super().__init__(1000)
        self.is_ready = False

    def try_complete(self) -> bool:
        return self.is_ready and self.force_complete()


def raise_at(point: int) -> Counter:
    """A profiler that raises at the point of this number."""
    # A point is where an interpreter looks for signals: where a function begins, or one in C has
    # returned. It looks where it jumps back, too, and nowhere else.
    passed = 0

    def see(_frame: object, event: str, _argument: object) -> None:
        nonlocal passed
        passed += event in ("call", "c_return")
        if passed == point:
            sys.setprofile(None)
            raise KeyboardInterrupt

    return see


def interrupted(purgatory: impl.Purgatory[str], purges: bool, point: int) -> bool:
    """Walk the list, and interrupt that; whether the walk was long enough."""
    try:
        sys.setprofile(raise_at(point))
        if purges:
            purgatory.advance()
        else:
            purgatory.check_and_complete("k")
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return False


@pytest.mark.parametrize("purges", [False, True])
@pytest.mark.parametrize("live", [(), (3,), (1, 9), (0, 5, 10, 11), (6, 7, 13)])
def test_a_list_can_be_walked_after_an_interrupt(
    purges: bool, live: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check completes all operations that wait, one that is watched afterwards included."""
    monkeypatch.setattr(impl.chunks, "CHUNK", 4)
    monkeypatch.setattr(impl.walks, "CHUNK", 4)
    for point in count(1):
        timer = impl.Timer(clock=impl.VirtualClock(), executor=impl.InlineExecutor(), reaper=False)
        purgatory: impl.Purgatory[str] = impl.Purgatory(timer=timer, reaper=False, purge_interval=0)
        requests = [Request() for _ in range(15)]
        for request in requests:
            purgatory.try_complete_else_watch(request, ["k"])
        for number in {*range(15)}.difference(live):
            requests[number].force_complete()
        was_interrupted = interrupted(purgatory, purges, point)
        waiting = [Request(), *(requests[number] for number in live)]
        purgatory.try_complete_else_watch(waiting[0], ["k"])
        for request in waiting:
            request.is_ready = True
        purgatory.check_and_complete("k")
        assert [request.is_completed for request in waiting] == [True] * len(waiting), point
        if not was_interrupted:
            break
    assert point > 20
