"""By which model a verdict was reached."""

from purgatory_conformance.version import SUITE_VERSION
from purgatory_spec.messages import schema_digest

MODEL_VERSION = f"{SUITE_VERSION}+{schema_digest()[:12]}"
"""The suite's version and the beginning of the digest of its vocabulary."""
