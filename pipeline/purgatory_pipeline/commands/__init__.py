"""The commands of the pipeline: one module each; ``commands`` registers them."""
