"""A failing case of a timer as a picture: the scene, the time axis, the SVG."""
