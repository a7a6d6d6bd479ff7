"""Typed Python bindings of the TLA+ checkers, and this project's models.

The bindings know nothing of this project: they check any module.

- ``check`` explores a module, ``simulate`` makes random behaviours, ``induction`` proves that an
  invariant is inductive, ``typecheck`` checks type annotations. TLC is the default; Apalache is
  used where it is asked for.
- ``Configuration`` is the instance and what is checked of it, as a ``.cfg`` file says it.
- A verdict is a result with an ITF trace (of the package itf-py). Whatever prevents a verdict is a
  ``CheckerError``: a missing tool, a module that is wrong, a run that showed nothing.
- ``to_tla`` writes a Python value as TLA+; ``read_module`` reads declarations and their types.

The shelves, each above what it uses:

    commands                  ``purgatory tla``
    cases, bindings           behaviours as cases for an implementation; the bound models
    views                     a trace as a story: words for its steps, counts beside them
    comparing                 have a model and a module one state graph?
    manifest                  this project's models, and what each run must find
    proofs                    claims proved for every size, by z3
    checkers                  TLC and Apalache behind one interface
    modules, values           the text of a module; TLA+ values as Python values

For a module of one's own begin with ``check`` below, for this project's with ``manifest``.
"""

from purgatory_tla.checkers.apalache.running import typecheck
from purgatory_tla.checkers.checking import check
from purgatory_tla.checkers.configurations import Configuration
from purgatory_tla.checkers.inductive import induction
from purgatory_tla.checkers.results import (
    CheckResult,
    InductionResult,
    Outcome,
    SimulationResult,
    Statistics,
    TypecheckResult,
)
from purgatory_tla.checkers.simulation import simulate
from purgatory_tla.checkers.tlc.log import Progress
from purgatory_tla.checkers.tools import find_jar, maven_jar, wheel_jar
from purgatory_tla.errors import (
    CheckerError,
    EvaluationFailure,
    IllTyped,
    InvalidSpecification,
    MissingJava,
    MissingTool,
    OutOfMemory,
    ParseFailure,
    TimedOut,
    UnexpectedOutput,
    UnknownOperator,
    UntrustedJar,
    VacuousRun,
)
from purgatory_tla.modules.module_text import ModuleText, read_module
from purgatory_tla.values.values import ModelValue, function, record, sequence, to_tla

__all__ = [
    "CheckResult",
    "CheckerError",
    "Configuration",
    "EvaluationFailure",
    "IllTyped",
    "InductionResult",
    "InvalidSpecification",
    "MissingJava",
    "MissingTool",
    "ModelValue",
    "ModuleText",
    "OutOfMemory",
    "Outcome",
    "ParseFailure",
    "Progress",
    "SimulationResult",
    "Statistics",
    "TimedOut",
    "TypecheckResult",
    "UnexpectedOutput",
    "UnknownOperator",
    "UntrustedJar",
    "VacuousRun",
    "check",
    "find_jar",
    "function",
    "induction",
    "maven_jar",
    "read_module",
    "record",
    "sequence",
    "simulate",
    "to_tla",
    "typecheck",
    "wheel_jar",
]
