"""The page to play on: a wheel to change, and hunts for a defect, in the browser alone.

The timer is ``adapters/javascript/timer.js``: a wheel, and variants of it with one defect each, all
judged by the suite behind the adapter beside it. ``frames.js`` makes of its states what the viewer
draws, ``play.js`` is the page's own. ``hunts`` has what the suite found: the fewest steps to each
defect. ``page`` puts all of it together.
"""
