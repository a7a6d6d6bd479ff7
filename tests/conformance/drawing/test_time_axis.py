"""The compressed time axis: never backwards, exact at its stops, legible."""

from itertools import pairwise

import pytest

from purgatory_conformance.drawing.time_axis import label_distance, time_axis


def test_stops_keep_their_order_and_the_axis_its_width() -> None:
    axis = time_axis([27, 0, 3, 9, 3], [], unit_ms=1, left=100, width=700, most_width=1000)

    assert axis.stops == (0, 3, 9, 27)
    assert axis.x(0) == 100
    assert axis.x(27) == pytest.approx(800)
    assert all(axis.x(t) < axis.x(t + 1) for t in range(27))


def test_between_two_stops_it_is_linear_and_outside_it_ends() -> None:
    axis = time_axis([0, 10, 1000], [], unit_ms=1, left=0, width=700, most_width=1000)

    assert axis.x(5) == pytest.approx(axis.x(10) / 2)
    assert axis.x(505) == pytest.approx((axis.x(10) + axis.x(1000)) / 2)
    assert (axis.x(-5), axis.x(2000)) == (axis.x(0), axis.x(1000))


def test_a_long_gap_is_compressed_and_marked() -> None:
    axis = time_axis([0, 1, 2, 2**62], [], unit_ms=1, left=0, width=700, most_width=1000)

    assert axis.x(2**62) - axis.x(2) < 10 * (axis.x(2) - axis.x(1))
    assert axis.breaks() == [pytest.approx((axis.x(2) + axis.x(2**62)) / 2)]


def test_times_between_two_ticks_are_told_apart() -> None:
    axis = time_axis([0, 1, 2, 40], [(0, 1, 30)], unit_ms=20, left=0, width=700, most_width=1000)

    assert axis.x(1) >= 30
    assert axis.x(2) - axis.x(1) > 10


def test_room_is_given_where_a_text_needs_it() -> None:
    stops = range(20)
    plain = time_axis(stops, [], unit_ms=1, left=0, width=700, most_width=1000)
    roomy = time_axis(stops, [(4, 6, 200)], unit_ms=1, left=0, width=700, most_width=1000)

    assert plain.x(6) - plain.x(4) < 200
    assert roomy.x(6) - roomy.x(4) >= 200
    assert roomy.x(19) == pytest.approx(700)


def test_more_room_than_there_is_makes_no_picture_wider_than_allowed() -> None:
    rooms = [(t, t + 1, 200.0) for t in range(20)]
    axis = time_axis(range(21), rooms, unit_ms=1, left=0, width=700, most_width=1000)

    assert axis.x(20) == pytest.approx(1000)


def test_a_single_stop_makes_an_axis_of_one_tick() -> None:
    axis = time_axis([7], [], unit_ms=10, left=0, width=700, most_width=1000)

    assert (axis.stops, axis.x(17)) == ((7, 17), 700)


def test_labels_do_not_overlap_and_the_important_ones_stay() -> None:
    stops = {10**6 + t: 1 for t in range(60)} | {10**6 + 30: 4, 10**6 + 1: 0}
    axis = time_axis(stops, [], unit_ms=1, left=0, width=700, most_width=700)

    labels = axis.labels(stops)

    assert 10**6 + 30 in labels
    assert 10**6 + 1 not in labels
    assert 3 < len(labels) < 60
    assert all(axis.x(b) - axis.x(a) >= label_distance(a, b) for a, b in pairwise(labels))
