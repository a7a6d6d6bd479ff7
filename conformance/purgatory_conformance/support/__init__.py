"""What the suite needs to know of one component; everything else is the same for all of them.

``support`` has the interface, ``registry`` finds the support of a component.
"""
