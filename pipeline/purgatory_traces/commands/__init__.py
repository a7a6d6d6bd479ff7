"""The commands of the pipeline: one module each; ``trace`` is the group of those about traces."""
