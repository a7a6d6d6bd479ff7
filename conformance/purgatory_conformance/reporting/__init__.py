"""Verdicts, stories and pictures, for terminals, for pages and for machines.

``results`` and ``results_file`` have what a campaign found; ``terminal``, ``html`` and ``machine``
show it. ``words`` and the modules named after components say operations, outcomes and profiles as a
person would. ``story`` and ``narrative`` tell a failing case or a counterexample step by step;
``wheel_picture`` draws a timer's. ``concurrent`` tells what threads did.
"""
