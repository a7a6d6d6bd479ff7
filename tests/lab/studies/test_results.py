"""Results: the declared schema, both forms, and a run that goes on where it was ended."""

import re
import sys
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from purgatory_lab.studies import results, tables
from purgatory_lab.studies.catalogue import STUDIES, Study
from purgatory_lab.studies.engines import result_of, run_locally
from purgatory_lab.studies.results import ResultsFolder
from purgatory_lab.studies.setting import Setting
from purgatory_spec.installing import command_for
from purgatory_traces.errors import MissingExtra

SETTINGS = tuple(
    Setting("tiny", design, "high", requests=60) for design in ("old", "proposal", "exact")
)
TINY = Study("tiny", "What does a test need?", SETTINGS)


def test_the_schema_is_declared_and_nothing_is_null(tmp_path: Path) -> None:
    tables.write_parquet([result_of(SETTINGS[0])], tmp_path / "one.parquet")
    written = parquet.read_schema(tmp_path / "one.parquet")
    assert written.equals(tables.schema())
    assert not any(field.nullable for field in written)
    assert written.field("study").type == pyarrow.string()
    assert written.field("live_most").type == pyarrow.int64()
    assert written.field("reinserted").type.value_type == pyarrow.int64()
    assert set(written.names) == set(tables.columns()) == set(result_of(SETTINGS[0]))


def test_both_forms_give_back_the_rows(tmp_path: Path) -> None:
    rows = [result_of(setting) for setting in SETTINGS]
    tables.write_parquet(rows, tmp_path / "rows.parquet")
    tables.write_summary(rows, tmp_path / "rows.csv")
    assert tables.read_parquet(tmp_path / "rows.parquet") == rows
    assert tables.read_summary(tmp_path / "rows.csv") == rows


def test_control_a_row_without_a_column_is_refused(tmp_path: Path) -> None:
    row = result_of(SETTINGS[0])
    del row["purges"]
    with pytest.raises(pyarrow.ArrowInvalid):
        tables.write_parquet([row], tmp_path / "one.parquet")
    assert list(tmp_path.iterdir()) != [tmp_path / "one.parquet"]


def test_a_run_goes_on_where_it_was_ended(tmp_path: Path) -> None:
    ended = ResultsFolder(tmp_path)
    setting, row = next(run_locally(SETTINGS, 1))
    ended.write(setting, row)
    with pytest.raises(FileNotFoundError):
        ended.write_study(TINY)
    again = ResultsFolder(tmp_path)
    assert again.missing(SETTINGS) == list(SETTINGS[1:])
    for setting, row in run_locally(again.missing(SETTINGS), 1):
        again.write(setting, row)
    assert tables.read_parquet(again.write_study(TINY)) == [result_of(each) for each in SETTINGS]


def test_results_of_other_code_are_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ResultsFolder(tmp_path).write(SETTINGS[0], result_of(SETTINGS[0]))
    assert ResultsFolder(tmp_path).missing(SETTINGS[:1]) == []
    monkeypatch.setattr(results, "code_digest", lambda: "other")
    assert ResultsFolder(tmp_path).missing(SETTINGS[:1]) == [SETTINGS[0]]


def test_settings_have_names_of_their_own() -> None:
    every = [setting for study in STUDIES.values() for setting in study.settings]
    assert len({setting.name for setting in every}) == len(every)
    assert all(setting.study == study.name for study in STUDIES.values()
               for setting in study.settings)  # fmt: skip


@pytest.mark.slow
def test_processes_give_the_rows_in_order() -> None:
    assert list(run_locally(SETTINGS, 2)) == [(each, result_of(each)) for each in SETTINGS]


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=re.escape(command_for("spark"))):
        tables.schema()
