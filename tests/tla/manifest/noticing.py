"""The models that notice changed claims, and the record of them.

A changed claim is noticed by a model that has another verdict on it than on the claim: a must-fail
that holds, because the change is weaker, or a claim that is violated, because it is stronger. All
changes of a module that a model can judge are judged in one run of TLC, which prints each that is
broken once and goes on. A must-fail goes on to the depth that its record has, and a step further:
a change that is broken behind it is noticed, too, since the run has another depth than recorded.
Claims about liveness are left out: TLC stops at the first that is broken. What TLC cannot evaluate
is no claim, and counts for nothing.

``weakenings.jsonl`` has the verdict on each change. ``python -m tests.tla.manifest.noticing`` finds
those of the modules that it is given, by default those whose claims are others than recorded.
"""

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from itertools import groupby
from pathlib import Path

import msgspec

from purgatory_tla.checkers.checking import check
from purgatory_tla.checkers.configurations import Configuration
from purgatory_tla.checkers.results import CheckResult
from purgatory_tla.comparing.comparing import QUICK
from purgatory_tla.errors import CheckerError, TimedOut
from purgatory_tla.manifest.manifest import Expected, Kind, Model, checked, read_manifest
from purgatory_tla.resources import modules_folder

from ..comparing.seeded_changes import copied_modules
from .weakenings import Weakening, body_of, code_of, exhaustive_models, weakenings

RECORD = Path(__file__).with_name("weakenings.jsonl")
_REASONS = Path(__file__).with_name("unnoticed.jsonl")
MOST_CLAIMING = 4
"""So many models that make a claim are asked, the smallest; of those that break it, all."""

_SECONDS = 40
_STEPS = re.compile(r"^(?P<before>.*?\[\]\[)(?P<action>.*)\](?P<of>_\w+)\s*$", re.DOTALL)
_LIVENESS = re.compile(r"~>|\[\]<>|\b[WS]F_")
_BROKEN = re.compile(r"broken (\d+)")
_AT_FAULT = re.compile(r"\b(?:Watched|Changed|Action)(\d+)\b|line (\d+), col")


class Verdict(StrEnum):
    """The verdict on a changed claim."""

    NOTICED = "noticed"
    UNNOTICED = "unnoticed"
    NO_CLAIM = "no claim"


@dataclass(frozen=True)
class Judged:
    """A changed claim and its verdict; ``model`` is the one that notices it."""

    module: str
    claim: str
    change: str
    verdict: Verdict
    model: str | None = None

    def __str__(self) -> str:
        """Return the claim and the change."""
        return f"{self.claim}: {self.change}"


def changes_at_once(module: str) -> list[Weakening]:
    """Return the changes of the claims of a module about states and steps."""
    return [each for each in weakenings(module) if not _is_about_liveness(module, each.claim)]


def _is_about_liveness(module: str, claim: str) -> bool:
    body, _ = body_of(module, claim)
    return bool(_LIVENESS.search(body)) or ("[]" in body and not _STEPS.match(body))


# Which models are asked.


def expects_violation(model: Model) -> bool:
    """Decide whether the model must break its claim."""
    return model.expected in (Expected.INVARIANT, Expected.PROPERTY)


def models_about(module: str, claim: str) -> list[Model]:
    """Return the must-fails of a claim, then the models that claim it, the smallest first."""
    models = exhaustive_models(module)
    fails = [each for each in models if each.kind is Kind.MUST_FAIL and each.violated == claim]
    claims = [
        each
        for each in models
        if each.kind is Kind.CLAIM and claim in checked(each, modules_folder())
    ]
    return [*fails, *claims[:MOST_CLAIMING]]


# One run for all changes.


@dataclass
class Judging:
    """The changes of a module's claims that are not judged yet, and the verdicts so far."""

    module: str
    waiting: dict[str, list[Weakening]] = field(default_factory=dict)
    judged: list[Judged] = field(default_factory=list)

    def settle(self, change: Weakening, verdict: Verdict, model: str | None = None) -> None:
        """Take in the verdict on a change."""
        self.waiting[change.claim].remove(change)
        self.judged.append(Judged(self.module, change.claim, change.words, verdict, model))


def judge(module: str) -> list[Judged]:
    """Return the verdict on every changed claim of a module."""
    judging = Judging(module)
    for each in changes_at_once(module):
        judging.waiting.setdefault(each.claim, []).append(each)
    asked: dict[str, tuple[Model, list[str]]] = {}
    for claim in judging.waiting:
        for model in models_about(module, claim):
            asked.setdefault(model.name, (model, []))[1].append(claim)
    for model, about in sorted(asked.values(), key=lambda each: each[0].generated or 0):
        _judge_at_once(judging, model, about)
    for left in judging.waiting.values():
        for each in list(left):
            judging.settle(each, Verdict.UNNOTICED)
    return judging.judged


def _judge_at_once(judging: Judging, model: Model, claims: Sequence[str]) -> None:
    """Ask one model about all changes of some claims."""
    changes = [each for claim in claims for each in judging.waiting[claim]]
    while changes:
        try:
            broken = broken_by(judging.module, model, changes)
        except NoClaims as error:
            if not error.changes:
                return
            for each in error.changes:
                judging.settle(each, Verdict.NO_CLAIM)
            changes = [each for each in changes if each not in error.changes]
            continue
        for each in changes:
            if (each in broken) != expects_violation(model):
                judging.settle(each, Verdict.NOTICED, model.name)
        return


class NoClaims(Exception):
    """TLC cannot evaluate some of the changed claims; with none of them, it is not told which."""

    def __init__(self, changes: Collection[Weakening]) -> None:
        """Take the changes that are no claims."""
        super().__init__(", ".join(map(str, changes)))
        self.changes = changes


class WrongControl(Exception):
    """The claims as they are have another verdict than the manifest says."""


def broken_by(module: str, model: Model, changes: Sequence[Weakening]) -> set[Weakening]:
    """Return the changes that the model breaks.

    Beside the changes stand the claims as they are: the verdict on each must be the manifest's.

    Raises:
        NoClaims: TLC cannot evaluate some of the changes.
        WrongControl: the run does not find what the manifest says of the claims themselves.
    """
    claims = list(dict.fromkeys(each.claim for each in changes))
    planted = [*((claim, body_of(module, claim)[0]) for claim in claims)]
    planted += [(each.claim, _changed_body(each)) for each in changes]
    text, lines = _planted_text(module, planted, model)
    invariants = [n for n, (_, body) in enumerate(planted) if not _STEPS.match(body)]
    properties = [n for n in range(len(planted)) if n not in invariants]
    try:
        result = _run(
            module,
            text,
            model,
            (*(f"Watched{n}" for n in invariants), "SomeHold"),
            tuple(f"Watched{n}" for n in properties),
        )
    except TimedOut:
        raise NoClaims(()) from None
    except CheckerError as error:
        faulty = _at_fault(f"{error}\n{error.raw_log}", lines) - set(range(len(claims)))
        places = {_place(changes[n - len(claims)]) for n in faulty}
        raise NoClaims([each for each in changes if _place(each) in places]) from error
    found = {int(number) for number in _BROKEN.findall(result.raw_log)}
    for n, claim in enumerate(claims):
        if (n in found) != expects_violation(model):
            raise WrongControl(f"{model.name}: {claim}")
    return {each for n, each in enumerate(changes, start=len(claims)) if n in found}


def _place(weakening: Weakening) -> tuple[str, int, str]:
    """Return the place of a change: what has no order there has none by another sign."""
    instead = weakening.change.instead
    return (
        weakening.claim,
        weakening.change.start,
        "" if instead[:1] in {"<", ">", "="} else instead,
    )


def _changed_body(weakening: Weakening) -> str:
    """Return the body of the claim with the change."""
    body, offset = body_of(weakening.module, weakening.claim)
    change = weakening.change
    return body[: change.start - offset] + change.instead + body[change.end - offset :]


def _planted_text(
    module: str, planted: Sequence[tuple[str, str]], model: Model
) -> tuple[str, Mapping[int, int]]:
    """Return the module with further definitions, and for each of their lines its number."""
    text = code_of(module)
    text = re.sub(r"^EXTENDS (.*)$", r"EXTENDS \1, TLC", text, count=1, flags=re.MULTILINE)
    lines = text.splitlines()
    assert lines[-1].startswith("====")
    del lines[-1]
    numbers: dict[int, int] = {}
    for n, (claim, body) in enumerate(planted):
        begin = len(lines)
        lines += _watched(n, claim, body).splitlines()
        numbers |= dict.fromkeys(range(begin + 1, len(lines) + 1), n)
    every = f"0..{len(planted) - 1}"
    lines += [f"ASSUME \\A n \\in {every} : TLCSet(n, FALSE)"]
    # TLC stops where nothing more can be found out.
    lines += [f"SomeHold == \\E n \\in {every} : ~TLCGet(n)"]
    if model.depth is not None:
        lines += [f'NotDeeper == TLCGet("level") <= {model.depth + 1}']
    lines += ["=" * 20]
    return "\n".join(lines) + "\n", numbers


def _watched(number: int, claim: str, body: str) -> str:
    """Return the definition of a claim that tells once when it is broken, and goes on."""
    told = f'(TLCGet({number}) \\/ (PrintT("broken {number}") /\\ TLCSet({number}, TRUE)))'
    steps = _STEPS.match(body)
    if steps is None:
        # Words keep their columns, which junction lists depend on.
        return f"Changed{number} ==\n{' ' * len(claim + ' ==')}{body}\n" + (
            f"Watched{number} == Changed{number} \\/ {told}\n"
        )
    before = re.sub(r"[^\n]", " ", steps["before"])
    action = f"{' ' * len(claim + ' ==')}{before}{steps['action']}"
    return f"Action{number} ==\n{action}\n" + (
        f"Watched{number} == [][Action{number} \\/ {told}]{steps['of']}\n"
    )


def _at_fault(message: str, lines: Mapping[int, int]) -> set[int]:
    """Return the numbers of the definitions that an error of TLC names."""
    found: set[int] = set()
    for name, line in _AT_FAULT.findall(message):
        number = int(name) if name else lines.get(int(line))
        if number is not None:
            found.add(number)
    return found


def _run(
    module: str, text: str, model: Model, invariants: Iterable[str], properties: Iterable[str]
) -> CheckResult:
    with tempfile.TemporaryDirectory() as folder:
        copy = copied_modules(Path(folder))
        shutil.copytree(modules_folder() / "models", copy / "models")
        path = copy / f"{module}.tla"
        path.write_text(text, encoding="utf-8")
        stated = Configuration.read(copy / "models" / str(model.configuration))
        return check(
            path,
            stated,
            constants=model.constants or None,
            invariants=tuple(invariants),
            properties=tuple(properties),
            specification=model.specification,
            symmetry=model.symmetry,
            constraints=(*(model.constraints or stated.constraints), *_depth_of(model)) or None,
            java_options=QUICK,
            timeout=_SECONDS,
        )


def _depth_of(model: Model) -> tuple[str, ...]:
    """Return the constraint to the depth of a must-fail; a claim is explored completely."""
    is_bounded = expects_violation(model) and model.depth is not None
    return ("NotDeeper",) if is_bounded else ()


# The record.


LEFT_OUT = frozenset(
    {
        "MemoryPoolInductive",
        "TimingWheel",
        "TimingWheelSteps",
    }
)
"""Modules whose changed claims are not judged yet; ``judge`` can, and some will need must-fails."""


def modules() -> list[str]:
    """Return the modules of the manifest whose changed claims are judged."""
    names = sorted({each.module for each in read_manifest().models if each.module is not None})
    names = [name for name in names if name not in LEFT_OUT]
    return [name for name in names if changes_at_once(name)]


def read_record() -> list[Judged]:
    """Return the verdicts of the record."""
    lines = RECORD.read_text(encoding="utf-8").splitlines() if RECORD.is_file() else []
    return [
        Judged(**{**(each := json.loads(line)), "verdict": Verdict(each["verdict"])})
        for line in lines
    ]


class Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reason why no model notices a change; ``weaker`` where it weakens the claim."""

    module: str
    claim: str
    change: str
    weaker: bool
    reason: str


def read_reasons() -> list[Reason]:
    """Return the changes that no model notices, each with the reason."""
    lines = _REASONS.read_text(encoding="utf-8").splitlines()
    return [msgspec.json.decode(line, type=Reason) for line in lines]


def by_module(record: Iterable[Judged]) -> dict[str, list[Judged]]:
    """Return the verdicts of each module."""
    whole = sorted(record, key=lambda each: each.module)
    return {name: list(group) for name, group in groupby(whole, key=lambda each: each.module)}


def out_of_date(record: Mapping[str, Sequence[Judged]]) -> Iterator[str]:
    """Yield the modules whose changes are others than those of the record."""
    for name in modules():
        recorded = {(each.claim, each.change) for each in record.get(name, ())}
        if recorded != {(each.claim, each.words) for each in changes_at_once(name)}:
            yield name


def write_record(names: Sequence[str]) -> None:
    """Judge the changes of some modules, and write the record anew."""
    record = {name: each for name, each in by_module(read_record()).items() if name in modules()}
    for name in names or list(out_of_date(record)):
        record[name] = judge(name)
        counts = {each.value: 0 for each in Verdict}
        for judged in record[name]:
            counts[judged.verdict.value] += 1
            if judged.verdict is Verdict.UNNOTICED:
                print(f"  {judged}", flush=True)
        print(name, counts, flush=True)
        whole = [each for judged in record.values() for each in judged]
        ordered = sorted(whole, key=lambda each: (each.module, each.claim, each.change))
        lines = [json.dumps(asdict(each)) for each in ordered]
        RECORD.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    write_record(sys.argv[1:])
