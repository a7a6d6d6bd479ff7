"""The pages of the site as Markdown, for any generator.

    python -m purgatory_lab.site_pages FOLDER

Begin with ``pages``: it takes the pages of ``docs`` and adds those that are made from the sources.
"""
