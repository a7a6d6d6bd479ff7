"""The text of a TLA+ module: extended modules, declarations, definitions and commentary.

Begin with ``module_text``. ``vocabulary`` adds what a module has from those that it extends,
``literate`` shows definitions with the comments above them.
"""
