"""The peers that are written in Python: ours, the old design, asyncio, and a heap.

``python -m purgatory_lab.benchmarks.python_peer NAME`` speaks the lines of ``lab/peers/README.md``.
"""
