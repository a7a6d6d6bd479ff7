"""Orders: first come is fair; the others starve as they were seen to."""

import pytest

from purgatory_lab.benchmarks.network.orders import ORDERS, Order, measure_fairness
from purgatory_lab.benchmarks.network.tables import jain

pytestmark = [pytest.mark.verify, pytest.mark.pure]


@pytest.mark.parametrize("is_late", [False, True])
def test_first_come_serves_all_alike(is_late: bool) -> None:
    found = measure_fairness("first come", 60, is_late=is_late, seed=1)
    assert (found.served, found.longest_wait) == ((10,) * 6, 5)


def test_the_order_of_kafka_serves_who_was_served_on_released_kafka() -> None:
    """Compare with the counts on released Kafka: one client has everything, or two share it."""
    in_time = measure_fairness("Kafka's", 600, is_late=False, seed=1)
    assert sorted(in_time.served) == [0, 0, 0, 0, 0, 600]
    assert in_time.longest_wait == 600
    late = measure_fairness("Kafka's", 600, is_late=True, seed=1)
    assert sorted(late.served) == [0, 0, 0, 0, 300, 300]


def test_another_seed_is_another_winner() -> None:
    seen = {measure_fairness("Kafka's", 6, is_late=False, seed=seed).served for seed in range(9)}
    assert len(seen) > 1


def test_a_random_order_serves_all_and_lets_some_wait_long() -> None:
    found = measure_fairness("random", 600, is_late=False, seed=1)
    assert min(found.served) > 50
    assert found.longest_wait > 5


@pytest.mark.parametrize("order", ORDERS)
def test_every_request_is_counted(order: Order) -> None:
    assert sum(measure_fairness(order, 25, is_late=True, seed=3).served) == 25


def test_the_index_of_fairness() -> None:
    assert jain((5, 5, 5)) == 1
    assert jain((9, 0, 0)) == pytest.approx(1 / 3)
    assert jain((0, 0)) == 0
