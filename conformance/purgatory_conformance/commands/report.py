"""The command that derives a report from the results of a check."""

from pathlib import Path

import click

from purgatory_conformance.reporting.html import render_html
from purgatory_conformance.reporting.machine import render_badge, render_junit, render_markdown
from purgatory_conformance.reporting.results_file import read_results


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("form", type=click.Choice(["html", "junit", "markdown", "badge"]))
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), default=None)
def report(file: Path, form: str, output: Path | None) -> None:
    """Derive a report from the results FILE of a check."""
    results = read_results(file)
    renderers = {
        "html": render_html,
        "junit": render_junit,
        "markdown": render_markdown,
        "badge": render_badge,
    }
    text = renderers[form](results)
    if output is None:
        click.echo(text)
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
