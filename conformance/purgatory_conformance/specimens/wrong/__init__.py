"""The wrong subjects, in modules by what goes wrong; each registers itself when it is imported."""

from purgatory_conformance.specimens.mutant import REGISTERED as REGISTERED
from purgatory_conformance.specimens.wrong import arming as arming
from purgatory_conformance.specimens.wrong import asking as asking
from purgatory_conformance.specimens.wrong import asyncio_server as asyncio_server
from purgatory_conformance.specimens.wrong import checking as checking
from purgatory_conformance.specimens.wrong import completing as completing
from purgatory_conformance.specimens.wrong import counting as counting
from purgatory_conformance.specimens.wrong import ending as ending
from purgatory_conformance.specimens.wrong import executor as executor
from purgatory_conformance.specimens.wrong import expiry as expiry
from purgatory_conformance.specimens.wrong import granting as granting
from purgatory_conformance.specimens.wrong import histories as histories
from purgatory_conformance.specimens.wrong import keeping as keeping
from purgatory_conformance.specimens.wrong import muting as muting
from purgatory_conformance.specimens.wrong import names as names
from purgatory_conformance.specimens.wrong import recovering as recovering
from purgatory_conformance.specimens.wrong import releasing as releasing
from purgatory_conformance.specimens.wrong import severe as severe
from purgatory_conformance.specimens.wrong import sizes as sizes
from purgatory_conformance.specimens.wrong import watching as watching
from purgatory_conformance.specimens.wrong import wheel as wheel
