"""A failing case of a timer as a picture: what it shows, its time axis, its SVG."""
