"""A failing case as a picture: where a step went wrong, and what was seen beside what was expected.

The timer has its wheels in time: begin with ``wheel_scene``, what the picture shows; ``time_axis``
gives times their places, and ``wheel_picture`` draws the scene as SVG. The other components have
panels, states of the model as rows of boxes: begin with ``panels``; each component says in a module
of its own what its rows are, and ``panel_picture`` draws them.
"""
