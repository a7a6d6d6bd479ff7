"""Runs of the model as pictures that move: states as data, and the viewer that draws them.

Begin with ``runs``: the frames of a case, each a state that the model reached. ``markup`` writes
them into a page, beside ``viewer.js``, which draws any frame, and ``viewer.css``. The page loads
nothing else; without a script it shows every step in words.
"""
