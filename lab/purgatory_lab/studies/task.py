"""A setting as a task: the unit of work of every engine."""

from purgatory_lab.studies.bundled import BundledDesign
from purgatory_lab.studies.designs import CountedDesign
from purgatory_lab.studies.setting import Setting
from purgatory_lab.studies.simulation import Design, run
from purgatory_lab.studies.tables import Row, row_of


def result_of(setting: Setting) -> Row:
    """The row of a setting; takes some seconds for a million requests."""
    design: Design
    if setting.design.startswith("bundled"):
        design = BundledDesign(setting)
    else:
        design = CountedDesign(setting)
    return row_of(setting, run(setting.workload.generate(), design))
