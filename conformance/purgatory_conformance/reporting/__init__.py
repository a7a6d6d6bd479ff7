"""Reporting: one results file, from which every report for people and machines is derived."""
