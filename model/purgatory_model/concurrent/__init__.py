"""Models in which every access to shared memory is a step of its own, for several threads.

``exact`` is the purgatory with the exact accounting, ``proposal`` the purgatory in the published
order, ``memory_pool`` the pool whose available bytes are changed by compare-and-swap, and
``channel_muting`` the channels that wait for the pool's memory. Each has the same state graph as a
TLA+ module, with the same names for its actions; ``purgatory tla compare`` checks it. In each,
``model`` is the place to begin, ``state`` says what the future depends on, ``instances`` has small
instances for the explorer and claims about them, which ``examining`` asks of them.
"""
