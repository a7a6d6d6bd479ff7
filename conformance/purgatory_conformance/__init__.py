"""The conformance suite: it drives anybody's implementation step by step against the model."""
