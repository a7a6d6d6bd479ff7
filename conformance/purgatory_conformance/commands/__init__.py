"""The commands of the suite; the entry points of the distribution say which module has which."""
