"""Subjects: the implementations under test, in process and as child processes."""
