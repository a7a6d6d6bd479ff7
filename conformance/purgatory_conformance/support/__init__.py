"""Support of one component in the suite; everything else is common to all.

``support`` has the interface, ``registry`` finds the support of a component.
"""
