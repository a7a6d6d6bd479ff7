"""The policy by which a page loads nothing, and runs the scripts that it was made with alone."""

import base64
import hashlib
import re

from markupsafe import Markup

_SCRIPT = re.compile("<script>(.*?)</script>", re.DOTALL)


def content_policy(scripts: Markup) -> Markup:
    """Return the element that has a browser run these script elements, and load nothing at all.

    It stands in the head, in front of all that it is about. The scripts are those that the page is
    made with: a script that came into the page with a name or a message has another digest.
    """
    digests = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in _SCRIPT.findall(scripts)
    ]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )
    return Markup('<meta http-equiv="Content-Security-Policy" content="{}">\n').format(
        Markup(policy)
    )
