"""The version of the suite, which every report carries, and that of the distribution it came in.

They are counted apart. A distribution may be better documented or faster and judge as the one
before it did; whatever can change a verdict raises the suite's version. So two verdicts of equal
suite versions can be compared, and ``purgatory.toml`` may pin the version.
"""

from dataclasses import dataclass
from importlib import metadata


@dataclass(frozen=True)
class SuiteVersion:
    """A version of the suite: its number, what it changed for a subject, and its fingerprints.

    Each fingerprint is the beginning of a SHA-256: of the rules with their levels and conditions,
    of the golden vectors, of cases as they are generated, and of what is said of known subjects.
    ``tests/conformance/test_suite_version.py`` computes them; a fingerprint that has changed asks
    for a new version, whose entry is appended. A released version keeps its own for ever; those of
    the last entry are recorded anew until it is released.
    """

    number: int
    change: str
    rules: str
    vectors: str
    cases: str
    verdicts: str


SUITE_VERSIONS = (
    SuiteVersion(
        number=1,
        change="the first that is counted apart from the distribution's version",
        rules="d077173b49c10b31",
        vectors="5d245529105a9136",
        cases="e1247025a528c4c3",
        verdicts="1afa57c5874f883c",
    ),
)
"""The versions, from the first to this one."""

SUITE_VERSION = str(SUITE_VERSIONS[-1].number)

PACKAGE_VERSION = metadata.version("purgatory-spec")


def changes_after(number: int) -> tuple[str, ...]:
    """Return the changes for a subject after a version of the suite, oldest first."""
    return tuple(f"{each.number}: {each.change}" for each in SUITE_VERSIONS if each.number > number)
