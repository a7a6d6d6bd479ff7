"""Specimens: a small timer that is right, and many that are wrong in one known way each."""
