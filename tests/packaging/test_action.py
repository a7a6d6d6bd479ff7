"""The GitHub Action as checkers of actions see it: it has the right form, and no known trap."""

import sys
from pathlib import Path

import pytest

from tests.packaging.wheels import ROOT, run

pytestmark = [pytest.mark.verify, pytest.mark.package, pytest.mark.slow]

UVX = Path(sys.prefix) / "bin" / "uvx"
ACTION = ROOT / "action.yml"
SCHEMA = ["check-jsonschema==0.39.0", "--builtin-schema", "vendor.github-actions"]
ZIZMOR = ["zizmor==1.32.0", "--offline", "--config", ROOT / ".github/zizmor.yml"]


@pytest.mark.parametrize("checker", [SCHEMA, ZIZMOR], ids=["schema", "zizmor"])
def test_the_action_is_sound(checker: list[str | Path], tmp_path: Path) -> None:
    run([UVX, *checker, ACTION], tmp_path)


@pytest.mark.parametrize(
    ("checker", "wrong", "code"),
    [
        (SCHEMA, ("shell: bash", "shel: bash"), 1),
        (ZIZMOR, ('run: exit "$CODE"', "run: exit ${{ inputs.subject }}"), 14),
    ],
    ids=["schema", "zizmor"],
)
def test_an_action_that_is_not_sound_is_noticed(
    checker: list[str | Path], wrong: tuple[str, str], code: int, tmp_path: Path
) -> None:
    action = tmp_path / "action.yml"
    action.write_text(ACTION.read_text(encoding="utf-8").replace(*wrong), encoding="utf-8")
    run([UVX, *checker, action], tmp_path, code)
