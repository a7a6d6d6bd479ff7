# SPDX-License-Identifier: CC0-1.0
"""Answers the runner for a timer of a package: python adapter.py MODULE:FUNCTION [FOLDER].

The function returns the subject. The folder is where pip has put the package; it is on the path of
this process alone.
"""

import sys
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import msgspec

from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_conformance.subjects.subject import UnsupportedConfigurationError
from purgatory_spec.messages import Components, Reply
from purgatory_spec.operations import Operation
from purgatory_spec.profiles import Component, TimerConfiguration, TimerProfile
from purgatory_spec.reasons import Reason


def answer(request: dict[str, Any], subject: InProcessSubject) -> Reply:
    number = request["id"]
    match request["request"]:
        case "hello":
            profile = subject.profiles[Component.TIMER]
            assert isinstance(profile, TimerProfile)
            return Reply(number, 1, subject.implementation, Components(timer=profile))
        case "new" if request["component"] == "timer":
            configuration = msgspec.convert(request["configuration"], TimerConfiguration)
            subject.new(request["case"], configuration)
        case "do":
            operation = msgspec.convert(request["operation"], Operation)
            (outcome,) = subject.do_all([operation])
            if outcome.rejected is Reason.UNSUPPORTED:
                return Reply(number, unsupported="this clock ends before")
            return Reply(number, **msgspec.structs.asdict(outcome))
        case "end":
            subject.end()
        case other:
            return Reply(number, unsupported=f"there is no request {other!r} for this here")
    return Reply(number)


def main() -> None:
    function, *folders = sys.argv[1:]
    sys.path[:0] = [str(Path(folder).resolve()) for folder in folders]
    replies, sys.stdout = sys.stdout.buffer, sys.stderr  # a stray print is no reply
    subject: InProcessSubject = resolve_name(function)()
    for line in filter(bytes.strip, sys.stdin.buffer):
        number = 0  # stays 0 where the request cannot be read
        try:
            request = msgspec.json.decode(line)
            number = int(request["id"])
            if request["request"] == "stop":
                return
            reply = answer(request, subject)
        except UnsupportedConfigurationError as error:
            reply = Reply(number, unsupported=str(error))
        except Exception as error:  # the adapter itself failed; the runner will say so
            reply = Reply(number, error=f"{type(error).__name__}: {error}")
        replies.write(msgspec.json.encode(reply) + b"\n")
        replies.flush()


if __name__ == "__main__":
    main()
