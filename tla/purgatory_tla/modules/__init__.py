"""The text of a TLA+ module: extended modules, declarations, definitions and commentary.

Begin with ``module_text``. ``vocabulary`` joins a module's definitions with those of the modules
that it extends; ``literate`` shows definitions with the comments above them.
"""
