"""The course: its lessons, the pages to play on, and defects to catch.

    commands      ``purgatory course`` and ``purgatory model break``
    teaching      the class, and sheets; exercises and their grades
    breaking      a planted defect, and who catches it: rule, property, vector, step
    playing       the pages on which a reader plays a wheel and hunts a defect

Begin with ``teaching.lessons``; the lessons themselves are in ``docs/course``.
"""
