"""A failing case of a timer as a picture: the wheels, their buckets, and where a task went wrong.

Begin with ``wheel_scene``: what the picture shows. ``time_axis`` gives times their places, and
``wheel_picture`` draws the scene as SVG.
"""
