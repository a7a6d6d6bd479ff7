"""The peers that are written in Python: ours, the old design, asyncio, and a heap.

``python -m purgatory_bench.python_peer NAME`` speaks the lines of ``benchmarks/peers/README.md``.
"""
