"""The manifest: every model with what its run must find, down to the number of states.

``manifest.json`` is the record against which runs are compared. A claim is a model in which
everything that is checked holds. That it is not true for want of anything to be true of is what
its companions show: a *must-fail* is a sibling with something wrong in it, in which the claim is
violated; a *witness* shows that the situation of which the claim speaks is reached. Both are found
in the manifest by what they are ``about``.
"""

import json
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from purgatory_spec.named_files import named_file
from purgatory_tla.checkers.configurations import Configuration
from purgatory_tla.resources import modules_folder

VERSION = 1
"""The version of the manifest's format."""


class InvalidManifest(ValueError):
    """The manifest is not what it should be; the message names the entry and what is wrong."""


class Mode(Enum):
    """The mode in which a model is run."""

    EXHAUSTIVE = "exhaustive"
    SIMULATION = "simulation"
    PROOF = "proof"


class Kind(Enum):
    """The purpose of a model: to hold, to fail, or to witness that a state is reachable."""

    CLAIM = "claim"
    MUST_FAIL = "must-fail"
    WITNESS = "witness"


class Expected(Enum):
    """The finding that a run must have; ``refuted`` is a proof's word.

    A simulation without a violation is ``bounded``: no claim is made about unvisited states.
    """

    SUCCESS = "success"
    BOUNDED = "bounded"
    INVARIANT = "invariant"
    PROPERTY = "property"
    DEADLOCK = "deadlock"
    REFUTED = "refuted"


class RunTime(Enum):
    """The run time of a model: part of the tests, or run when there is time.

    ``LARGE`` takes long, or shows in a further example what a small one shows already.
    """

    SMALL = "small"
    LARGE = "large"


class Simulation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A simulation: numbers of random behaviours and of their states, and a seed."""

    behaviours: int
    length: int
    seed: int


class Induction(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An induction over all integers; ``fails`` names the part that a must-fail fails in."""

    invariant: str
    implies: str
    next: str = "Next"
    fails: Literal["base", "step", "implication"] | None = None


class Symbolic(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A run by Apalache: the invariants of a model up to a length in steps, or an induction."""

    length: int | None = None
    induction: Induction | None = None


class Model(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """An entry of the manifest.

    ``constants``, ``invariants``, ``properties``, ``constraints``, ``specification`` and
    ``symmetry`` stand in for those of the configuration. ``lacks`` gives for a checked claim that
    has no must-fail sibling or no witness the reason why. ``apalache`` says what Apalache runs of
    the model, beside TLC.
    """

    name: str
    title: str
    module: str | None = None
    configuration: str | None = None
    proof: str | None = None
    constants: dict[str, str] = {}
    invariants: tuple[str, ...] | None = None
    properties: tuple[str, ...] | None = None
    constraints: tuple[str, ...] | None = None
    specification: str | None = None
    symmetry: str | None = None
    deadlock: bool = False
    mode: Mode = Mode.EXHAUSTIVE
    simulation: Simulation | None = None
    apalache: Symbolic | None = None
    kind: Kind = Kind.CLAIM
    about: tuple[str, ...] = ()
    expected: Expected = Expected.SUCCESS
    violated: str | None = None
    generated: int | None = None
    distinct: int | None = None
    depth: int | None = None
    run_time: RunTime = RunTime.SMALL
    explanation: str = ""
    lacks: dict[str, str] = {}


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All models, in the order in which they are shown."""

    models: tuple[Model, ...]
    version: int = VERSION


@cache
def read_manifest(path: Path | None = None) -> Manifest:
    """Return the manifest of this project, or that of another file.

    Raises:
        InvalidManifest: it cannot be read, or an entry has an unknown field, a wrong type, a key
            given twice or the name of another entry.
    """
    path = modules_folder() / "manifest.json" if path is None else path
    try:
        text = named_file(path).read_text(encoding="utf-8")
        return parse_manifest(text)
    except OSError as error:
        raise InvalidManifest(f"{path.name}: cannot be read: {error.strerror}") from error
    except InvalidManifest as error:
        raise InvalidManifest(f"{path.name}: {error}") from error


def parse_manifest(text: str) -> Manifest:
    """Return the manifest that a JSON text holds.

    Raises:
        InvalidManifest: as for ``read_manifest``.
    """
    try:
        plain: object = json.loads(text, object_pairs_hook=_object_without_duplicates)
    except ValueError as error:
        raise InvalidManifest(str(error)) from error
    if not isinstance(plain, dict) or set(plain) != {"version", "models"}:
        raise InvalidManifest("it must be an object with the keys 'version' and 'models' alone")
    if plain["version"] != VERSION:
        raise InvalidManifest(f"its version must be {VERSION}, and is {plain['version']!r}")
    entries = plain["models"]
    if not isinstance(entries, list):
        raise InvalidManifest("'models' must be a list")
    models = tuple(_model(entry, number) for number, entry in enumerate(entries, start=1))
    names = [model.name for model in models]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InvalidManifest(f"name given twice: {', '.join(repeated)}")
    return Manifest(models)


def _object_without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        owner = dict(pairs).get("name", "an entry")
        raise ValueError(f"{owner}: key given twice: {', '.join(repeated)}")
    return dict(pairs)


def _model(entry: object, number: int) -> Model:
    name = entry.get("name") if isinstance(entry, dict) else None
    try:
        return msgspec.convert(entry, Model)
    except msgspec.ValidationError as error:
        raise InvalidManifest(f"{name or f'entry {number}'}: {error}") from error


def checked(model: Model, folder: Path) -> tuple[str, ...]:
    """Return the invariants and properties that a model checks; none for a proof."""
    if model.configuration is None:
        return ()
    stated = Configuration.read(folder / "models" / model.configuration)
    invariants = stated.invariants if model.invariants is None else model.invariants
    properties = stated.properties if model.properties is None else model.properties
    return (*invariants, *properties)
