"""Map each executable model to its TLA+ module: variables and actions, written down.

Each module of the package holds a ``Binding``. A binding computes, from a state of the model, the
value of every variable of the TLA+ module, and names its steps as the module does.
"""
