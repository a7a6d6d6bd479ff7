"""What is judged, and how it is reached.

``subject`` has the interface. ``in_process`` drives a Python object; ``adapter_process`` speaks the
protocol with a program; ``kafka`` builds and starts the adapter of Apache Kafka; ``bundled`` is the
implementation of this project. ``registry`` finds a subject by the word given to a command,
``declaration`` reads ``purgatory.toml``.
"""
