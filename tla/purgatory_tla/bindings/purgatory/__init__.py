"""The purgatory's bindings: ``calls`` to the sequential model, the others to concurrent models."""
