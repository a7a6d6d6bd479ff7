"""Writes the pages of the site as Markdown, or the page that is checked in.

    python -m purgatory_lab.site_pages purgatory-work/pages
    python -m purgatory_lab.site_pages --profiles docs

The second one writes ``reference/profile.md`` below the folder, and nothing else.
"""

from pathlib import Path

import click

from purgatory_lab.site_pages.pages import write_pages
from purgatory_lab.site_pages.profiles import PROFILE_PAGE, profile_page


@click.command()
@click.option("--profiles", is_flag=True, help="Write the page of the profiles alone.")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def main(profiles: bool, folder: Path) -> None:
    """Write the pages into a folder; what the folder had before is gone."""
    if profiles:
        (folder / PROFILE_PAGE).write_text(profile_page(), encoding="utf-8")
    else:
        write_pages(folder)


if __name__ == "__main__":
    main()
