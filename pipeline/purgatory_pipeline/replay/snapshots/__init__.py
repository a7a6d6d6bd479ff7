"""What a ``snapshot`` line says of an instance, as a state of its model; see ``snapshots``."""
