"""Subjects that are judged, and the ways to reach them.

``subject`` has the interface. ``in_process`` drives a Python object; ``adapter_process`` speaks the
protocol with a program; ``kafka`` builds and starts the adapter of Apache Kafka; ``bundled`` is the
implementation of this project. ``declaration`` reads ``purgatory.toml``; ``open_subject`` is a
subject with what its declaration says. ``opening``, above this shelf, finds a subject by its name.
"""
