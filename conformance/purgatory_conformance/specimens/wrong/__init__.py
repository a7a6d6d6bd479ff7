"""What is wrong with each mutant: a subclass or a change of a small implementation, by subject."""
