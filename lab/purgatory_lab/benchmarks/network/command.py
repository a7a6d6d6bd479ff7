"""``purgatory bench network``: the load proof."""

import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click
import msgspec

from purgatory_conformance.problems import EXIT_MISSING_TOOL, Problem
from purgatory_impl import COMPILED
from purgatory_lab.benchmarks.bench.building import (
    NO_CHECKOUT,
    NotBuilt,
    build_compiled,
    find_checkout,
)
from purgatory_lab.benchmarks.bench.machine import facts, load_now
from purgatory_lab.benchmarks.network import plan
from purgatory_lab.benchmarks.network.pairs import Certificates
from purgatory_lab.benchmarks.network.results import Build, NetworkResults
from purgatory_lab.benchmarks.network.tables import regions, report
from purgatory_lab.documents import filled_page, read_document, write_document
from purgatory_spec.installing import command_for

PARTS: Final = ("spikes", "fairness", "idle", "loads")
_WORK: Final = Path("purgatory-work") / "bench"
_FILE: Final = click.Path(path_type=Path, dir_okay=False)


@click.command("network")
@click.option(
    "--part", "parts", type=click.Choice(PARTS), multiple=True, help="Repeatable; all by default."
)
@click.option("--rounds", type=click.IntRange(1), help="Of the loads: 5, or 1 with --quick.")
@click.option("--quick", is_flag=True, help="Small numbers: less than a minute.")
@click.option(
    "--compiled/--no-compiled",
    default=True,
    show_default=True,
    help="Measure the compiled build, too; it is built first.",
)
@click.option("--out", type=_FILE, default=_WORK / "network.json", show_default=True)
@click.option("--from", "read", type=_FILE, help="Measure nothing: take this file of results.")
@click.option("--write", type=_FILE, help="Write tables into this page, and results beside it.")
@click.option(
    "--work",
    type=click.Path(path_type=Path, file_okay=False),
    default=_WORK,
    show_default=True,
    help="For the compiled build and logs.",
)
def network(
    parts: tuple[str, ...],
    rounds: int | None,
    quick: bool,
    compiled: bool,
    out: Path,
    read: Path | None,
    write: Path | None,
    work: Path,
) -> None:
    """Measure the server under load: its bound, fairness, idleness and throughput.

    On loopback, server and clients in processes of their own. An aim that is missed is a finding.
    """
    if read is None:
        results = _measured(parts or PARTS, rounds, quick, compiled, work)
        write_document(out, results)
        _say(f"results: {out}")
    else:
        results = read_document(read, NetworkResults)
    click.echo(report(results))
    if write is not None:
        page = filled_page(write, regions(results))
        write_document(write.parent / "results" / "network.json", results)
        write.write_text(page, encoding="utf-8")


def _measured(
    parts: tuple[str, ...], rounds: int | None, quick: bool, compiled: bool, work: Path
) -> NetworkResults:
    sizes = plan.QUICK if quick else plan.FULL
    if rounds is not None:
        sizes = replace(sizes, rounds=rounds)
    checkout = find_checkout(None)
    machine, begun_s = facts(load_now(), checkout), time.monotonic()
    began = datetime.now(UTC).isoformat(timespec="seconds")
    here = sys.executable
    pythons: dict[Build, str] = {"compiled" if COMPILED else "pure": here}
    if compiled and not COMPILED and "loads" in parts:
        pythons["compiled"] = str(_compiled_python(checkout, work))
    with TemporaryDirectory() as folder:
        certificates = certificates_in(Path(folder))
        results = NetworkResults(
            format="purgatory-bench-network",
            version=1,
            began=began,
            seconds=0.0,
            command=f"purgatory bench network{' --quick' if quick else ''}",
            machine=machine,
            spikes=(
                tuple(plan.spikes(sizes, here, certificates, _say)) if "spikes" in parts else ()
            ),
            fairness=tuple(plan.orders(sizes)) if "fairness" in parts else (),
            idles=tuple(plan.idles(sizes, here, certificates, _say)) if "idle" in parts else (),
            loads=(
                tuple(plan.loads(sizes, pythons, certificates, _say)) if "loads" in parts else ()
            ),
        )
    return msgspec.structs.replace(
        results,
        seconds=time.monotonic() - begun_s,
        machine=msgspec.structs.replace(machine, load_end=load_now()),
    )


def _compiled_python(checkout: Path | None, work: Path) -> Path:
    """Return the interpreter of the compiled build.

    Raises:
        Problem: it cannot be built.
    """
    try:
        if checkout is None:
            raise NotBuilt(NO_CHECKOUT.partition(";")[0])
        _say("the compiled build is built")
        work.mkdir(parents=True, exist_ok=True)
        return build_compiled(checkout, work.resolve(), work.resolve() / "build-compiled.log")
    except NotBuilt as problem:
        raise Problem(
            f"no compiled build: {problem}. Say --no-compiled", EXIT_MISSING_TOOL
        ) from problem


def certificates_in(folder: Path) -> Certificates:
    """Return certificates of an authority that is made for this run.

    Raises:
        Problem: what makes certificates is not installed.
    """
    try:
        import trustme
    except ImportError:
        raise Problem(
            f"certificates are made by trustme: {command_for('bench')}",
            EXIT_MISSING_TOOL,
        ) from None
    authority = trustme.CA()
    server = authority.issue_cert("localhost")
    found = Certificates(folder / "server.pem", folder / "authority.pem")
    server.private_key_and_cert_chain_pem.write_to_path(str(found.server))
    authority.cert_pem.write_to_path(str(found.authority))
    return found


def _say(what: str) -> None:
    """Tell a person what is under way."""
    click.echo(what, err=True)
