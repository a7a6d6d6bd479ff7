"""The page of claims: who establishes each, for which sizes, and what notices its weakening.

``python -m tests.tla.claims`` writes the tables of ``docs/reference/claims.md`` anew, from the
manifest, the record of TLC's results, the record of changed claims and the planted changes. A test
fails where the page is older than these.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from purgatory_tla.bindings.registry import REPORTED, SMALL
from purgatory_tla.checkers.configurations import Configuration
from purgatory_tla.manifest.manifest import Kind, Mode, Model, checked, read_manifest
from purgatory_tla.modules.vocabulary import vocabulary
from purgatory_tla.resources import modules_folder

from .manifest.noticing import Judged, Verdict, read_reasons
from .manifest.noticing import read_record as read_verdicts
from .record import read_record

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "claims.md"
_CHANGES = Path(__file__).with_name("comparing") / "changes.jsonl"
_TABLES = re.compile(
    r"(?<=<!-- claims: begin -->\n)(?P<tables>.*?)(?=<!-- claims: end -->)", re.DOTALL
)


def page_with_tables(page: str) -> str:
    """Return the text of the page with the tables as they are to be."""
    return _TABLES.sub(lambda _: "\n" + "\n\n".join(_sections()) + "\n\n", page)


def _sections() -> Iterator[str]:
    """Yield a heading and a table for each module, for the proofs, and for the comparisons."""
    verdicts = read_verdicts()
    yield "## In short\n\n" + _table(
        ("module", "claims", "models", "most states", "must-fails", "changes noticed"),
        [_summary(module, verdicts) for module in _modules()],
    )
    for module in _modules():
        yield f"## {module}\n\n" + _table(
            ("claim", "established by", "for", "its weakening is noticed by"),
            [_row(module, claim, verdicts) for claim in _claims(module)],
        )
    yield "## Proofs\n\n" + _table(
        ("claim", "established by", "for", "its weakening is noticed by"), list(_proofs())
    )
    yield "## Equal graphs\n\n" + _table(
        ("claim", "established by", "for", "a change is noticed by"), list(_comparisons())
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines
    )


# Claims that TLC checks.


@cache
def _models() -> Mapping[str, list[Model]]:
    """Return the models of each module, in the order of the manifest."""
    found: dict[str, list[Model]] = {}
    for model in read_manifest().models:
        if model.module is not None:
            found.setdefault(model.module, []).append(model)
    return found


@cache
def _checked() -> Mapping[str, tuple[str, ...]]:
    """Return what each model checks, by name."""
    return {each.name: checked(each, modules_folder()) for each in read_manifest().models}


def _modules() -> list[str]:
    return list(_models())


@cache
def _claims(module: str) -> tuple[str, ...]:
    """Return what the models of a module claim."""
    claims = [each for each in _models()[module] if each.kind is Kind.CLAIM]
    return tuple(dict.fromkeys(name for model in claims for name in _checked()[model.name]))


def _summary(module: str, verdicts: Sequence[Judged]) -> tuple[str, ...]:
    models = _models()[module]
    kinds = Counter(each.kind for each in models)
    claims = [each for each in models if each.kind is Kind.CLAIM]
    noticed = _noticed([each for each in verdicts if each.module == module])
    return (
        f"`{module}`",
        str(len(_claims(module))),
        str(kinds[Kind.CLAIM]),
        f"{max(each.distinct or 0 for each in claims):,}",
        str(kinds[Kind.MUST_FAIL]),
        noticed or "not judged",
    )


def _row(module: str, claim: str, verdicts: Sequence[Judged]) -> tuple[str, ...]:
    models = [
        each
        for each in _models()[module]
        if each.kind is Kind.CLAIM and claim in _checked()[each.name]
    ]
    largest = max(models, key=lambda each: each.distinct or 0)
    sentence = vocabulary(modules_folder(), module)[claim].sentence
    changes = [each for each in verdicts if (each.module, each.claim) == (module, claim)]
    return (
        f"`{claim}`" + (f": {sentence}" if sentence else ""),
        "; ".join([f"TLC, {_counted(len(models), 'model')}", *_symbolic(claim, models)]),
        f"{largest.distinct or 0:,} states: `{largest.name}`",
        "; ".join(filter(None, [_must_fails(module, claim), _noticed(changes)]))
        or _reason(models, claim),
    )


def _symbolic(claim: str, models: Iterable[Model]) -> Iterator[str]:
    """Yield what Apalache runs of some models, which is about invariants alone."""
    for model in models:
        symbolic = model.apalache
        if symbolic is None:
            continue
        induction = symbolic.induction
        if induction is not None and claim in (induction.invariant, induction.implies):
            yield f"Apalache, by induction for all integers (`{model.name}`)"
        elif induction is None and claim in _invariants(model):
            yield f"Apalache, up to {symbolic.length} steps (`{model.name}`)"


def _invariants(model: Model) -> tuple[str, ...]:
    if model.invariants is not None:
        return model.invariants
    return Configuration.read(modules_folder() / "models" / str(model.configuration)).invariants


def _must_fails(module: str, claim: str) -> str:
    """Return how many must-fails a claim has, and the smallest."""
    fails = [
        each for each in _models()[module] if each.kind is Kind.MUST_FAIL and claim in each.about
    ]
    if not fails:
        return ""
    smallest = min(fails, key=lambda each: each.generated or 0)
    return f"{_counted(len(fails), 'must-fail')}: `{smallest.name}`"


def _noticed(changes: Sequence[Judged]) -> str:
    """Return how many of the changes of claims are noticed; some unnoticed ones weaken nothing."""
    noticed = sum(each.verdict is Verdict.NOTICED for each in changes)
    made = noticed + sum((each.module, each.claim, each.change) in _weaker() for each in changes)
    return f"{noticed} of {_counted(made, 'change')}" if made else ""


@cache
def _weaker() -> frozenset[tuple[str, str, str]]:
    """Return the changes that weaken a claim and are not noticed."""
    return frozenset(
        (each.module, each.claim, each.change) for each in read_reasons() if each.weaker
    )


def _reason(models: Iterable[Model], claim: str) -> str:
    """Return why a claim has no must-fail."""
    usual = "nothing: it catches slips in the module"
    return next((each.lacks[claim] for each in models if claim in each.lacks), usual)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# Proofs and comparisons.


def _proofs() -> Iterator[tuple[str, ...]]:
    """Yield a row for each proof, and one for the refuted claims that are of no single proof."""
    proofs = [each for each in read_manifest().models if each.mode is Mode.PROOF]
    claims = [each for each in proofs if each.kind is Kind.CLAIM]
    refuted: dict[str, list[Model]] = {}
    for each in proofs:
        if each.kind is not Kind.CLAIM:
            owners = [claim.name for claim in claims if each.name.startswith(f"{claim.name}-")]
            refuted.setdefault(max(owners, key=len, default=""), []).append(each)
    for claim in claims:
        yield _proof_row(f"`{claim.name}`: {claim.title}", refuted.get(claim.name, []))
    yield _proof_row("several of them", refuted.get("", []))


def _proof_row(claim: str, refuted: Sequence[Model]) -> tuple[str, ...]:
    names = ", ".join(f"`{each.name}`" for each in refuted)
    count = (
        f"{_counted(len(refuted), 'must-fail')}, refuted: {names}"
        if refuted
        else "no must-fail of its own"
    )
    return (claim, "z3", "all integers", count)


def _comparisons() -> Iterator[tuple[str, ...]]:
    """Yield a row for each comparison that the record has."""
    changes = [json.loads(line) for line in _CHANGES.read_text("utf-8").splitlines()]
    planted = Counter(str(each["binding"]) for each in changes)
    made = {each().name: each for each in (*REPORTED, *SMALL)}
    for (kind, name), recorded in sorted(read_record().items()):
        if kind != "comparison":
            continue
        found = recorded.found
        maker = made[name]
        place = f"{maker.__module__.removeprefix('purgatory_tla.bindings.')}.{maker.__name__}"
        yield (
            f"`{name}`: the model is `{maker().module}`",
            "`purgatory tla compare`",
            f"{found['states']:,} states, {found['edges']:,} edges",
            _counted(planted[place], "planted change")
            if planted[place]
            else "other instances of the pair",
        )


def main() -> None:
    """Write the page anew."""
    PAGE.write_text(page_with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
