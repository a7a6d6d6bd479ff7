"""The page that says in which order the model is read names every module, with its lines."""

import re
from pathlib import Path

import purgatory_model

FOLDER = Path(purgatory_model.__file__).parent
CORE_AT_MOST = 3_600
"""The lines of all modules that lie in the package's folder itself."""
KAFKAS_PURGATORY_AT_MOST = 400
"""The lines of the module that has Kafka's purgatory, its imports and its theory among them."""
ROW = re.compile(r"^ {4}(\w+) +([\d,]+) {2}\S", re.MULTILINE)


def lines_of(path: Path) -> int:
    """The lines of a module, or of all modules in a folder."""
    modules = path.rglob("*.py") if path.is_dir() else [path.with_suffix(".py")]
    return sum(len(module.read_text(encoding="utf-8").splitlines()) for module in modules)


def test_each_module_and_folder_is_on_the_page_with_its_lines() -> None:
    """The page has each module and each folder once, with its lines to the nearest ten."""
    rows = ROW.findall(purgatory_model.__doc__ or "")
    found = [path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__"]
    folders = [path.parent.name for path in FOLDER.glob("*/__init__.py")]
    assert sorted(name for name, _ in rows) == sorted([*found, *folders])
    told = {name: int(lines.replace(",", "")) for name, lines in rows}
    assert told == {name: round(lines_of(FOLDER / name), -1) for name in told}


def test_the_core_is_short() -> None:
    """The core has at most 3,600 lines, and Kafka's purgatory is read in one sitting."""
    assert sum(map(lines_of, FOLDER.glob("*.py"))) <= CORE_AT_MOST
    assert lines_of(FOLDER / "kafka_purgatory") <= KAFKAS_PURGATORY_AT_MOST
