"""The record of what TLC found: results by the digest of everything that they follow from.

A result of TLC follows from the module, those that it extends or instantiates, the configuration
and the jar; a comparison of state graphs also from the Python sources of model and binding. Where
none of these has changed, ``make test`` takes the result from ``record.jsonl``. Where one has, it
runs TLC, and fails until ``make record`` has written the new result. ``make verify`` establishes
all of them anew. Comments and docstrings of Python are no input: graphs do not depend on them. Nor
are comments of TLA+, except the types of constants and variables.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from purgatory_tla.bindings.registry import REPORTED, SMALL, Made
from purgatory_tla.checkers.results import CheckResult, Outcome, Statistics
from purgatory_tla.checkers.tools import WHEEL_SHA256, wheel_jar
from purgatory_tla.comparing import comparing
from purgatory_tla.manifest.manifest import Kind, Mode, Model, RunTime, read_manifest
from purgatory_tla.manifest.models import Finding, Settings, run_model
from purgatory_tla.modules.module_text import read_module
from purgatory_tla.resources import modules_folder
from tests.sources import folders_of, python_texts

RECORD = Path(__file__).with_name("record.jsonl")
PACKAGES = ("purgatory_spec", "purgatory_model", "purgatory_tla")
"""The packages that a binding may import."""

Found = Mapping[str, object]


@dataclass(frozen=True)
class Inputs:
    """The folders of the inputs of results: that of the modules, and one for each package."""

    modules: Path
    packages: Mapping[str, Path]


@cache
def installed() -> Inputs:
    """Return the inputs as they are in this checkout."""
    return Inputs(modules_folder(), folders_of(PACKAGES))


# What a result follows from.


def module_texts(folder: Path, name: str) -> dict[str, str]:
    """Return the code of a module and of all that it extends or instantiates, by file.

    The entry of the module's own name has the types of constants and variables, which values in
    traces and graphs are read by.
    """
    changed = tuple(path.stat().st_mtime_ns for path in sorted(folder.glob("*.tla")))
    texts = {name: _declared_types(folder / f"{name}.tla", changed)}
    waiting = [name]
    while waiting:
        path = folder / f"{waiting.pop()}.tla"
        if path.name in texts or not path.is_file():  # TLC's own modules have no file here
            continue
        text = texts[path.name] = code_of_module(path.read_text(encoding="utf-8"))
        for extended in re.findall(r"\bEXTENDS\s+(\w+(?:\s*,\s*\w+)*)", text):
            waiting += re.split(r"\s*,\s*", extended)
        waiting += re.findall(r"\bINSTANCE\s+(\w+)", text)
    return texts


@cache
def _declared_types(path: Path, _changed: tuple[int, ...]) -> str:
    module = read_module(path)
    types = module.annotations.types
    declared = sorted({*module.constants, *module.variables} & types.keys())
    return "\n".join(f"{each}: {types[each]}" for each in declared)


_SAID = re.compile(r'(?P<string>"(?:[^"\\\n]|\\.)*")|\\\*[^\n]*|\(\*')
_BLOCK = re.compile(r"\(\*|\*\)")


@cache
def code_of_module(text: str) -> str:
    """Return a text of TLA+ without comments and empty lines; words keep their columns."""
    parts: list[str] = []
    position = 0
    while match := _SAID.search(text, position):
        parts.append(text[position : match.start()])
        end = match.end()
        if match["string"]:
            parts.append(match["string"])
        else:
            end = _end_of_block(text, end) if match[0] == "(*" else end
            parts.append(re.sub(r"[^\n]", " ", text[match.start() : end]))
        position = end
    lines = "".join([*parts, text[position:]]).splitlines()
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _end_of_block(text: str, position: int) -> int:
    """Return the end of a block comment that begins before the position; blocks nest."""
    depth = 1
    while depth and (match := _BLOCK.search(text, position)):
        depth += 1 if match[0] == "(*" else -1
        position = match.end()
    return position if depth == 0 else len(text)


def digest_of(*inputs: object) -> str:
    """Return the SHA-256 of inputs that JSON can write."""
    text = json.dumps([WHEEL_SHA256, *inputs], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of_model(model: Model, inputs: Inputs) -> str:
    """Return the digest of what TLC reads of a model of the manifest."""
    assert model.module is not None
    assert model.configuration is not None
    simulation = model.simulation
    return digest_of(
        module_texts(inputs.modules, model.module),
        (inputs.modules / "models" / model.configuration).read_text(encoding="utf-8"),
        [model.constants, model.invariants, model.properties, model.constraints],
        [model.specification, model.symmetry, model.deadlock, model.mode.value],
        simulation and [simulation.behaviours, simulation.length, simulation.seed],
    )


def digest_of_comparison(made: Made, inputs: Inputs) -> str:
    """Return the digest of what a comparison of two state graphs follows from.

    The binding's constants are no input of their own: its code, which is one, computes them.
    """
    binding = made()
    return digest_of(
        module_texts(inputs.modules, binding.module),
        python_texts(inputs.packages, made.__module__),
        binding.name,
    )


# The results, by kind.


@cache
def models() -> dict[str, Model]:
    """Return the small models that TLC runs, by name; proofs are no matter of TLC."""
    every = read_manifest().models
    return {
        each.name: each
        for each in every
        if each.run_time is RunTime.SMALL and each.mode is not Mode.PROOF
    }


@cache
def bindings() -> dict[str, Made]:
    """Return what makes the bindings whose comparisons are recorded, by name."""
    reported = [made for made in REPORTED if made().name in REPORTED_AND_RECORDED]
    return {made().name: made for made in (*SMALL, *reported)}


REPORTED_AND_RECORDED = ("memory-pool-strict", "purgatory-proposal-two-keys")
"""Instances of the page of figures; the others take longer, and their tests are large."""


def found_by_model(finding: Finding) -> Found:
    """Return what is kept of a run of TLC."""
    result = finding.result
    assert result is not None, finding.differences
    statistics = result.statistics
    return {
        "outcome": result.outcome.value,
        "violated": result.violated,
        "generated": statistics.generated,
        "distinct": statistics.distinct,
        "depth": statistics.depth,
    }


def result_of(found: Found) -> CheckResult:
    """Return TLC's result as it stands in the record, without a trace."""
    counts = [found[name] for name in ("generated", "distinct", "depth")]
    generated, distinct, depth = (each if isinstance(each, int) else None for each in counts)
    violated = found["violated"]
    return CheckResult(
        Outcome(found["outcome"]),
        violated if isinstance(violated, str) else None,
        Statistics(generated, distinct, depth, 0.0),
        None,
        "TLC",
        "",
        "",
    )


def found_by_comparison(found: comparing.Comparison) -> Found:
    """Return what is kept of a comparison."""
    return {"verdict": found.verdict.value, "states": found.states, "edges": found.edges}


EQUAL = comparing.GraphVerdict.EQUAL.value


def _run_model(name: str) -> Found:
    return found_by_model(run_model(models()[name], Settings(modules_folder(), jar=wheel_jar())))


def _run_comparison(name: str) -> Found:
    settings = comparing.CompareSettings(
        modules_folder(), wheel_jar(), java_options=comparing.QUICK
    )
    return found_by_comparison(comparing.compare(bindings()[name](), settings))


RUNS: Mapping[str, Callable[[str], Found]] = {"comparison": _run_comparison, "model": _run_model}


def digests(inputs: Inputs) -> dict[tuple[str, str], str]:
    """Return the digest of each result, by its kind and name."""
    return {
        **{("comparison", n): digest_of_comparison(each, inputs) for n, each in bindings().items()},
        **{("model", n): digest_of_model(each, inputs) for n, each in models().items()},
    }


# The record, and what a run takes from it.


@dataclass(frozen=True)
class Recorded:
    """One line of the record: what was found for inputs of a digest."""

    kind: str
    name: str
    digest: str
    found: Found


def read_record(path: Path = RECORD) -> dict[tuple[str, str], Recorded]:
    """Return the lines of the record, by kind and name; nothing where there is no record."""
    if not path.is_file():
        return {}
    lines = [Recorded(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]
    return {(each.kind, each.name): each for each in lines}


def out_of_date(
    record: Mapping[tuple[str, str], Recorded], inputs: Inputs
) -> Iterator[tuple[str, str]]:
    """Yield the kind and name of each result that the record does not have for these inputs."""
    for key, digest in digests(inputs).items():
        if key not in record or record[key].digest != digest:
            yield key


@cache
def _fresh() -> dict[tuple[str, str], Recorded]:
    """Return the lines of the record that are of the inputs as they are."""
    record = read_record()
    for key in list(out_of_date(record, installed())):
        record.pop(key, None)
    return record


@cache
def live_in_every_run() -> frozenset[tuple[str, str]]:
    """Return the results that every run establishes: of each module the smallest of a kind.

    That is one claim and one must-fail among the models, and one pair of equal graphs.
    """
    smallest: dict[tuple[str, Kind], Model] = {}
    for model in sorted(models().values(), key=lambda each: each.generated or 0):
        if model.kind is not Kind.WITNESS:
            smallest.setdefault((str(model.module), model.kind), model)
    compared: dict[str, str] = {}
    for name, made in bindings().items():
        compared.setdefault(made().module, name)
    return frozenset(
        [
            *(("model", model.name) for model in smallest.values()),
            *(("comparison", name) for name in compared.values()),
        ]
    )


def marks_of(kind: str, name: str) -> pytest.MarkDecorator | tuple[()]:
    """Return the mark of a test whose result stands in the record, or none where it is to run."""
    if (kind, name) in live_in_every_run() or (kind, name) not in _fresh():
        return ()
    return pytest.mark.verify(recorded=True)


def agree_with_the_record(kind: str, name: str, found: Found) -> None:
    """Assert that a run found what the record has, if the record is of these inputs."""
    recorded = _fresh().get((kind, name))
    assert recorded is None or recorded.found == found


def write_record() -> None:
    """Run TLC for each result that is out of date, and write the record anew."""
    wanted = digests(installed())
    record = {key: each for key, each in _fresh().items() if key in wanted}
    changed = wanted.keys() - record.keys()
    print(f"{len(record)} results are up to date, {len(changed)} are to be run", flush=True)
    with ProcessPoolExecutor(2) as pool:
        runs = {key: pool.submit(RUNS[key[0]], key[1]) for key in sorted(changed)}
        for (kind, name), run in runs.items():
            record[kind, name] = Recorded(kind, name, wanted[kind, name], run.result())
            print(kind, name, run.result(), flush=True)
    lines = [json.dumps(vars(record[key])) for key in sorted(record)]
    RECORD.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    write_record()
