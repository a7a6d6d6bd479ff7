"""The course: its lessons, the pages to play on, and defects to catch."""
