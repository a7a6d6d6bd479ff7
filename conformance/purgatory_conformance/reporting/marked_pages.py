"""Pages written by hand in which a command writes some regions: what stands between two marks."""

from pathlib import Path


def between_marks(text: str, region: str, inside: str) -> str:
    """Return a text with something else between the marks of a region.

    Raises:
        ValueError: the text lacks one of the marks; the message says which there are.
    """
    begin, end = f"<!-- {region}: begin -->", f"<!-- {region}: end -->"
    before, first, rest = text.partition(begin)
    _, second, after = rest.partition(end)
    if not first or not second:
        raise ValueError(f"lacks the marks {begin} and {end}")
    return f"{before}{begin}\n\n{inside}\n\n{end}{after}"


def write_between_marks(page: Path, region: str, inside: str) -> None:
    """Replace what stands between the marks of a region of a page.

    Raises:
        ValueError: the page lacks one of the marks.
    """
    text = page.read_text(encoding="utf-8")
    page.write_text(between_marks(text, region, inside), encoding="utf-8")
