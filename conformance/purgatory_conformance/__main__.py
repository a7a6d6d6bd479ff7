"""``python -m purgatory_conformance``: the command line, where no script is on the path."""

from purgatory_conformance.starting import main

main()
