"""The machine, as far as the operating system tells."""

import os
import platform
import re
import subprocess
from importlib import metadata
from pathlib import Path
from typing import TypeAlias

from purgatory_lab.benchmarks.bench.results import Machine

Load: TypeAlias = tuple[float, float, float] | None


def load_now() -> Load:
    """Load averages over 1, 5 and 15 minutes; None where the system has none."""
    try:
        return os.getloadavg()
    except (AttributeError, OSError):
        return None


def facts(load_begin: Load, checkout: Path | None) -> Machine:
    """Return the machine as it is now, at the end of the run.

    Args:
        load_begin: What the load was at its begin.
        checkout: The folder of the sources; None without a checkout.
    """
    return Machine(
        processor=_first("/proc/cpuinfo", r"model name\s*:\s*(.+)") or platform.processor(),
        cores=cores(),
        memory_mib=_memory_mib(),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=f"{platform.python_implementation()} {platform.python_version()}",
        package=metadata.version("purgatory-spec"),
        commit=_commit(checkout) if checkout is not None else "",
        load_begin=load_begin,
        load_end=load_now(),
    )


def in_short(machine: Machine) -> str:
    """Return the processor, how many there are, and the memory."""
    memory = "" if machine.memory_mib is None else f", {machine.memory_mib / 1024:.0f} GiB"
    return f"{machine.processor or 'unknown processor'}, {machine.cores} processors{memory}"


def in_full(machine: Machine) -> str:
    """Return everything that is known of a machine, and its load at begin and end."""
    built = f", commit {machine.commit}" if machine.commit else ""
    loads = ""
    if machine.load_begin is not None and machine.load_end is not None:
        loads = f"; load average {machine.load_begin[0]:.1f} at the begin"
        loads += f" and {machine.load_end[0]:.1f} at the end"
    told = f"{in_short(machine)}; {machine.system}; {machine.python}"
    return f"{told}; version {machine.package}{built}{loads}"


def in_words() -> str:
    """Return Python, system and processors, for a line above a table."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{python}, {platform.system()} {platform.machine()}, {os.cpu_count()} processors"


def cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory_mib() -> int | None:
    total = _first("/proc/meminfo", r"MemTotal:\s*(\d+) kB")
    return int(total) // 1024 if total else None


def _first(file: str, pattern: str) -> str:
    """Return the first match in a file; empty where there is no file, or no match."""
    try:
        found = re.search(pattern, Path(file).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ""
    return found[1].strip() if found else ""


def _commit(checkout: Path) -> str:
    commit = _git(checkout, "rev-parse", "--short=12", "HEAD")
    changed = _git(checkout, "status", "--porcelain", "--untracked-files=no")
    return f"{commit}+" if commit and changed else commit


def _git(checkout: Path, *words: str) -> str:
    """Return Git's answer; empty without Git or without a repository."""
    try:
        done = subprocess.run(
            ["git", "-C", checkout, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
