"""Elements of an SVG picture: numbers are rounded, texts can hold anything."""

from xml.etree import ElementTree as ET


def element(
    parent: ET.Element | None, tag: str, /, *, cls: str = "", **attributes: str | float
) -> ET.Element:
    """Return a new element, appended to the parent unless that is None."""
    made = ET.Element(tag) if parent is None else ET.SubElement(parent, tag)
    if cls:
        made.set("class", cls)
    for name, value in attributes.items():
        made.set(name, value if isinstance(value, str) else f"{value:.1f}")
    return made


def text(
    parent: ET.Element, words: str, x: float, y: float, *, cls: str = "", anchor: str = "start"
) -> ET.Element:
    """Return a new text; ``anchor`` says which end of it stands at ``x``."""
    made = element(parent, "text", cls=cls, x=x, y=y)
    if anchor != "start":
        made.set("text-anchor", anchor)
    made.text = words
    return made


def titled(made: ET.Element, words: str) -> ET.Element:
    """Return the element with a title, which is shown where the pointer rests and read out."""
    title = ET.Element("title")
    title.text = words
    made.insert(0, title)
    if made.text is not None:
        title.tail, made.text = made.text, None
    return made
