"""Generation: one table of situations, from which steps are drawn by any source of choices."""
