"""The templates of the pages, each of which is one file that loads nothing else."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from purgatory_conformance.describing.words import printable
from purgatory_conformance.viewing.content_policy import content_policy


@cache
def page_template(name: str, package: str = "purgatory_conformance.reporting") -> Template:
    """Return the template of this file name, in the templates of a package."""
    environment = Environment(
        loader=PackageLoader(package, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalized,
    )
    environment.globals["content_policy"] = content_policy
    return environment.get_template(name)


def _finalized(value: object) -> object:
    """Return every text that reaches the page, without what cannot be printed."""
    return printable(value) if type(value) is str else value
