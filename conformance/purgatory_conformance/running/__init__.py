"""Campaigns: many cases, the failing ones shrunk and put together by cause.

``campaign`` is what ``purgatory check`` does; ``case_run`` runs one case; ``shrinking`` and the
``*_reductions`` make a failing case small; ``causes`` puts failures together, by what ``mistakes``
says of their last steps; ``other_profiles`` asks under which other choice they would pass.
"""
