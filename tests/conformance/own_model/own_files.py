"""Models in files of somebody's own: the templates, and what is made of them."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from purgatory_conformance.own_model.loading import OwnModel, load
from purgatory_conformance.resources import model_template


class Unwatched:
    """A watch that ends nothing, even if a call does not come to an end."""

    def asking(self, what: Callable[[], str]) -> AbstractContextManager[None]:
        return nullcontext()


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.py"
    path.write_text(text, encoding="utf-8")
    return path


def loaded(folder: Path, text: str, component: str = "") -> OwnModel:
    return load(written(folder, text), component, Unwatched())


def template(component: str, *changes: tuple[str, str]) -> str:
    """The text of a template with lines of it changed; each must be there once."""
    text = model_template(component)
    for before, after in changes:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text
