"""The search for a failing case by Hypothesis, which shrinks what it finds."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from random import Random

from hypothesis import HealthCheck, Phase, configuration, find, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky, NoSuchExample
from hypothesis.strategies import DrawFn, SearchStrategy

from purgatory_conformance.generation.source import HypothesisSource
from purgatory_conformance.support.registry import support_of
from purgatory_conformance.support.support import Candidate
from purgatory_spec.profiles import Profile, component_of

_MOST_OPERATIONS = 30


def candidates(profile: Profile, most: int = _MOST_OPERATIONS) -> SearchStrategy[Candidate]:
    """Return cases for a subject of this profile, from the table of situations, as a strategy."""
    support = support_of(component_of(profile))

    @st.composite
    def build(draw: DrawFn) -> Candidate:
        source = HypothesisSource(draw)
        configuration = support.draw_configuration(profile, source, frozenset())
        operations = support.draw_operations(
            configuration, profile, source, most=most, wanted=frozenset()
        )
        return Candidate(configuration, operations)

    return build()


def search(
    profile: Profile, fails: Callable[[Candidate], bool], seed: int, most_runs: int, most: int
) -> None:
    """Ask ``fails`` of cases of the table, and of smaller ones as soon as one fails.

    A case has about ``most`` operations, or fewer.

    A subject may fail once and not again: the search then ends.
    """
    with _nothing_left_behind(), contextlib.suppress(NoSuchExample, Flaky):
        find(
            candidates(profile, min(most, _MOST_OPERATIONS)),
            fails,
            settings=settings(
                max_examples=most_runs,
                deadline=None,
                database=None,
                phases=(Phase.generate, Phase.shrink),
                suppress_health_check=list(HealthCheck),
            ),
            random=Random(seed),
        )


@contextlib.contextmanager
def _nothing_left_behind() -> Iterator[None]:
    """Let Hypothesis keep its notes in a folder that is removed, not where the user works."""
    with tempfile.TemporaryDirectory() as folder:
        configuration.set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            configuration.set_hypothesis_home_dir(None)
