"""Shell completions: subjects and ids of rules.

A shell asks at each key, and a command takes half a second to import. So a stand-in with the same
argument answers for it, unless the line has options that only the command itself knows.
"""

import os
from collections.abc import Callable
from pathlib import Path

import click

_SUBJECT = "subject"
_RULE = "identifier"
_STAND_INS = {
    "campaign": _SUBJECT,
    "check": _SUBJECT,
    "doctor": _SUBJECT,
    "explain": _RULE,
}
_OPTIONS_OF_STAND_INS = {"--rule"}

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def complete_subject(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Complete a registered name, a folder with a declaration, a mutant or a profile subject."""
    from purgatory_conformance.registered import FAMILIES, REGISTERED

    prefix, colon, _ = begun.partition(":")
    if colon and prefix in FAMILIES:
        names = [f"{prefix}:{each.name}" for each in FAMILIES[prefix].all()]
    else:
        names = [each.name for each in REGISTERED] + [f"{prefix}:" for prefix in FAMILIES]
        names += sorted(str(each.parent) for each in Path().glob("*/purgatory.toml"))
    return [name for name in names if name.startswith(begun)]


def complete_rule(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Complete the id of a rule, also where it was begun in small letters."""
    from purgatory_spec.requirements import all_requirements

    return [rule.id for rule in all_requirements() if rule.id.startswith(begun.upper())]


def stand_in(name: str) -> click.Command | None:
    """Return a light command with the same completions; None for any other command or option."""
    words = os.environ.get("COMP_WORDS", "").split()
    options = {word for word in words if word.startswith("-")}
    if name not in _STAND_INS or options - _OPTIONS_OF_STAND_INS:
        return None
    complete: Complete = complete_subject if _STAND_INS[name] is _SUBJECT else complete_rule
    argument = click.Argument([_STAND_INS[name]], required=False, shell_complete=complete)
    rule = click.Option(["--rule"], multiple=True, shell_complete=complete_rule)
    return click.Command(name, params=[argument, rule])
