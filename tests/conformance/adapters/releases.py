"""The releases of Kafka that a test asks: the newest always, the others with the large tests."""

from collections.abc import Sequence

import pytest


def releases(*names: str, also: Sequence[object] = ()) -> "list[pytest.ParameterSet]":
    """Parameters of a test, one for each release, the newest first."""
    values = zip(names, also, strict=True) if also else ((name,) for name in names)
    return [
        pytest.param(*each, marks=pytest.mark.large if place else ())
        for place, each in enumerate(values)
    ]
