"""Apalache, the symbolic checker: its command lines (``running``) and its failures (``errors``)."""
