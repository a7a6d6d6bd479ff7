"""The version of the suite, which every report carries."""

from importlib import metadata

SUITE_VERSION = metadata.version("purgatory-spec")
"""Equal to the version of the distribution."""
