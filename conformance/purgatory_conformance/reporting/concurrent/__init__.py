"""Counterexamples of the concurrent models as stories, in columns by thread."""
