"""The configuration of a model: what TLC reads from a ``.cfg`` file, as a value."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict, Unpack

from purgatory_spec.named_files import named_file
from purgatory_tla.errors import InvalidSpecification, ParseFailure, UnknownOperator
from purgatory_tla.modules.module_text import ModuleText

_COMMENT = re.compile(r'("(?:[^"\n])*")|\\\*[^\n]*|\(\*.*?\*\)', re.DOTALL)
_WORD = re.compile(r'"[^"\n]*"|<-|<<|>>|[A-Za-z0-9_!]+|-?[0-9]+|\S')
_SECTIONS = {
    "SPECIFICATION": "specification",
    "INIT": "init",
    "NEXT": "next",
    "CONSTANT": "constants",
    "CONSTANTS": "constants",
    "INVARIANT": "invariants",
    "INVARIANTS": "invariants",
    "PROPERTY": "properties",
    "PROPERTIES": "properties",
    "CONSTRAINT": "constraints",
    "CONSTRAINTS": "constraints",
    "ACTION_CONSTRAINT": "action_constraints",
    "ACTION_CONSTRAINTS": "action_constraints",
    "SYMMETRY": "symmetry",
    "VIEW": "view",
}
_LISTS = {
    "invariants": "INVARIANT",
    "properties": "PROPERTY",
    "constraints": "CONSTRAINT",
    "action_constraints": "ACTION_CONSTRAINT",
}
_SINGLE = {
    "specification": "SPECIFICATION",
    "init": "INIT",
    "next": "NEXT",
    "symmetry": "SYMMETRY",
    "view": "VIEW",
}


class Changes(TypedDict, total=False):
    """The arguments of ``Configuration.with_changes``."""

    specification: str | None
    init: str | None
    next: str | None
    constants: Mapping[str, str] | None
    invariants: Sequence[str] | None
    properties: Sequence[str] | None
    constraints: Sequence[str] | None
    action_constraints: Sequence[str] | None
    symmetry: str | None
    view: str | None


@dataclass(frozen=True, slots=True)
class Configuration:
    """An instance of a module, and the properties to check.

    The behaviour is given by ``specification``, or else by ``init`` and ``next``. A constant's
    value is TLA+ text (``3``, ``{"a", "b"}``) or ``<- Definition``, which puts an operator of the
    module in its place; the same form replaces any other operator by name.
    """

    specification: str | None = None
    init: str | None = None
    next: str | None = None
    constants: Mapping[str, str] = field(default_factory=dict)
    invariants: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    action_constraints: tuple[str, ...] = ()
    symmetry: str | None = None
    view: str | None = None

    @staticmethod
    def read(path: Path) -> "Configuration":
        """Return the configuration in a file.

        Raises:
            InvalidSpecification: the file cannot be read.
            ParseFailure: the text is no configuration; ``line`` says where.
        """
        try:
            text = named_file(path).read_text(encoding="utf-8")
        except OSError as error:
            raise InvalidSpecification(f"{path} cannot be read: {error.strerror}") from error
        return parse_configuration(text, str(path))

    def text(self) -> str:
        """Return the configuration as a file that TLC reads.

        Raises:
            InvalidSpecification: a constant holds a string with a backslash. TLC's configuration
                files know no escapes; define the value in a module and write ``<- Definition``.
        """
        lines = [
            f"{keyword} {getattr(self, name)}"
            for name, keyword in _SINGLE.items()
            if getattr(self, name) is not None
        ]
        for name, value in self.constants.items():
            if "\\" in value:
                raise InvalidSpecification(
                    f"the value of {name} holds a backslash, which a configuration file cannot "
                    "write; define it in the module and assign it with '<-'"
                )
            lines.append(f"CONSTANT {name} {value if value.startswith('<-') else '= ' + value}")
        for attribute, keyword in _LISTS.items():
            lines += [f"{keyword} {name}" for name in getattr(self, attribute)]
        return "".join(f"{line}\n" for line in lines)

    def with_changes(self, **changes: Unpack[Changes]) -> "Configuration":
        """Return a copy with some parts replaced; what is None stays.

        Constants replace those of the same name and leave the others. A specification takes the
        place of ``init`` and ``next``, and the other way round. Lists are replaced as a whole: an
        empty list removes all old items.
        """
        given = {name: value for name, value in changes.items() if value is not None}
        new: dict[str, object] = {}
        for name, value in given.items():
            new[name] = tuple(value) if name in _LISTS else value  # type: ignore[arg-type]
        if constants := changes.get("constants"):
            new["constants"] = {**self.constants, **constants}
        if "specification" in given:
            new |= {"init": None, "next": None}
        elif "init" in given or "next" in given:
            new["specification"] = None
        return dataclasses.replace(self, **new)  # type: ignore[arg-type]


def configuration_for(
    module: ModuleText, configuration: Configuration | Path | None
) -> Configuration:
    """Return the configuration that was given, or that lies beside the module, or an empty one.

    Raises:
        CheckerError: the file cannot be read.
    """
    if isinstance(configuration, Configuration):
        return configuration
    if configuration is not None:
        return Configuration.read(Path(configuration))
    beside = module.path.with_suffix(".cfg")
    return Configuration.read(beside) if beside.is_file() else Configuration()


def refuse_unfit(module: ModuleText, configuration: Configuration) -> None:
    """Refuse what a checker may pass over in silence, as TLC 2.15 does with unknown constants.

    Raises:
        UnknownOperator: a constant is assigned that the module does not have.
        InvalidSpecification: there is no behaviour to check.
    """
    known = {*module.constants, *module.definitions}
    unknown = sorted(name for name in configuration.constants if name not in known)
    if unknown:
        raise UnknownOperator(
            f"{module.name} has no constant {', '.join(unknown)}", module=module.name
        )
    if configuration.specification is None and None in (configuration.init, configuration.next):
        raise InvalidSpecification(
            f"there is no behaviour of {module.name} to check: "
            "give a specification, or 'init' and 'next'",
            module=module.name,
        )


def parse_configuration(text: str, name: str = "the configuration") -> Configuration:
    """Return the configuration that a text writes; ``name`` is used in messages.

    Raises:
        ParseFailure: the text is no configuration; ``line`` says where.
    """
    plain = _COMMENT.sub(lambda match: match[1] or re.sub(r"[^\n]", " ", match[0]), text)
    single: dict[str, str] = {}
    lists: dict[str, list[str]] = {each: [] for each in _LISTS}
    constants: dict[str, str] = {}
    for keyword, words in _sections(plain, name):
        section = _SECTIONS[keyword.text]
        if section == "constants":
            constants |= _assignments(words, name)
        elif section in lists:
            lists[section] += [word.text for word in words]
        elif len(words) != 1 or section in single:
            raise ParseFailure(f"{name}: {keyword.text} needs one name, once", line=keyword.line)
        else:
            single[section] = words[0].text
    tuples = {each: tuple(names) for each, names in lists.items()}
    return Configuration(**single, **tuples, constants=constants)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    line: int
    start: int
    end: int


def _sections(text: str, name: str) -> list[tuple[_Word, list[_Word]]]:
    """Return keywords, each with the words up to the next one."""
    sections: list[tuple[_Word, list[_Word]]] = []
    for match in _WORD.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        word = _Word(match[0], line, match.start(), match.end())
        if word.text in _SECTIONS:
            sections.append((word, []))
        elif not sections:
            raise ParseFailure(f"{name}: '{word.text}' is no keyword", line=line)
        else:
            sections[-1][1].append(word)
    return sections


def _assignments(words: list[_Word], name: str) -> dict[str, str]:
    """Return ``Name = value`` and ``Name <- Definition``; a value ends with its brackets."""
    values: dict[str, str] = {}
    position = 0
    while position < len(words):
        line = words[position].line
        if position + 2 >= len(words) or words[position + 1].text not in ("=", "<-"):
            raise ParseFailure(f"{name}: '{words[position].text}' has no value", line=line)
        arrow = words[position + 1].text == "<-"
        end = _value_end(words, position + 2)
        value = _joined(words[position + 2 : end])
        values[words[position].text] = f"<- {value}" if arrow else value
        position = end
    return values


def _value_end(words: list[_Word], position: int) -> int:
    """Return the end of the value that begins at the position."""
    depth = 0
    while position < len(words):
        text = words[position].text
        depth += (text in ("{", "[", "(", "<<")) - (text in ("}", "]", ")", ">>"))
        position += 1
        # A minus sign and a module in brackets belong to what follows.
        if depth == 0 and text != "-" and not _continues(words, position):
            break
    return position


def _continues(words: list[_Word], position: int) -> bool:
    """Decide whether the word at the position still belongs to the value."""
    if position >= len(words):
        return False
    following = words[position + 1].text if position + 1 < len(words) else ""
    return following not in ("=", "<-")


def _joined(words: list[_Word]) -> str:
    """Return the words as one text, any gap between two words shortened to one space."""
    text = ""
    for before, word in zip([None, *words], words, strict=False):
        gap = before is not None and before.end < word.start
        text += (" " if gap else "") + word.text
    return text
