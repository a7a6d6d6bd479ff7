"""A teacher's part of the course: slides, a sheet of exercises, and grades.

``lessons`` reads the lessons as they stand in ``docs/course``; ``slides`` and ``sheet`` are made
from them and say nothing of their own. ``exercises`` lists what can be graded, ``grading`` grades.
"""
