"""Traces of running systems at scale: replay, checking, campaigns and studies, also on Spark."""
