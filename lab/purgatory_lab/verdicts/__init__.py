"""Verdicts on other people's systems: judged anew, stored, shown as a table."""
