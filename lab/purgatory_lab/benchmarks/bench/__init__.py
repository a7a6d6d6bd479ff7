"""``purgatory bench``: all peers side by side, in rounds, and what follows from their answers.

The modules, in the order in which data passes through them: ``roster`` and ``building`` make peers
ready, ``talking`` asks one, ``catalogue`` and ``sweep_plan`` say what is asked, ``rounds`` and
``sweep`` ask it in turn, ``results`` is what is kept. From that file alone follow ``figures``,
``goals``, ``tables``, ``plots`` and the page.
"""
