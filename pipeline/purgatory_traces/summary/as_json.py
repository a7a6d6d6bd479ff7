"""The summary of a check in JSON, for programs."""

from purgatory_traces.results.rows import VerdictRow
from purgatory_traces.summary.summary import Summary


def summary_as_json(
    summary: Summary, *, engine: str, files: int, results: str
) -> dict[str, object]:
    """What a check has found.

    Args:
        summary: What was found.
        engine: The engine that was used.
        files: How many files were read.
        results: Where the tables are.
    """
    return {
        "headline": summary.headline,
        "exit_code": summary.exit_code,
        "engine": engine,
        "files": files,
        "runs": summary.runs,
        "events": summary.events,
        "judged": summary.judged,
        "verdicts": summary.verdicts,
        "causes": [
            {
                "rule": cause.rule,
                "kind": cause.kind,
                "runs": runs,
                "examples": [_place(row) for row in cause.examples],
            }
            for cause, runs in summary.causes
        ],
        "unfinished": [{"reason": each.words, "runs": each.rows} for each in summary.unfinished],
        "aside": [{"reason": each.words, "lines": each.rows} for each in summary.aside],
        "rules_tested": {
            component.value: len(summary.rules_of(component)[0])
            for component in summary.seen_components
        },
        "results": results,
    }


def _place(row: VerdictRow) -> dict[str, object]:
    told = ("run", "seq", "file", "line", "expected", "seen")
    return {name: getattr(row, name) for name in told}
