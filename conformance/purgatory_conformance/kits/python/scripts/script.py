# SPDX-License-Identifier: CC0-1.0
"""The script of a task or an operation under test: its actions, and its answers to tries."""

from collections.abc import Callable

from case import Case, Json


class ScriptError(Exception):
    """The exception that a script throws."""


class SevereScriptError(BaseException):
    """The severe one: a handler for ordinary exceptions does not catch it."""


class Script:
    """The script of a task: a task of yours calls ``ran``."""

    def __init__(self, case: Case, name: str) -> None:
        self.case, self.name = case, name
        self.actions: list[Json] = []

    def ran(self) -> None:
        self.case.note("ran", self.name)
        self.act(self.actions)

    def act(self, actions: list[Json]) -> None:
        for action in actions:
            if action["do"] == "throw":
                raise SevereScriptError if action.get("sort") == "severe" else ScriptError
            if action["do"] == "meanwhile":
                self.case.meanwhile(lambda call=action["call"]: self.act([call]))
                continue
            try:
                self.case.call(action["do"], action)
            except (Exception, *self.case.REASONS) as error:  # it does not end the script
                self.case.note("rejected", self.name, reason=self.case.reason(error))


class OperationScript(Script):
    """The script of an operation: an operation of yours calls these from its callbacks."""

    def __init__(self, case: Case, name: str, asked: Json) -> None:
        super().__init__(case, name)
        script = asked.get("script", {})
        self.tries: list[str] = list(script.get("tries", ()))
        self.on_try: list[list[Json]] = list(script.get("on_try", ()))
        self.on_complete: list[Json] = script.get("on_complete", [])
        self.on_expiration: list[Json] = script.get("on_expiration", [])
        self.satisfied = False

    def tried(self, complete: Callable[[], bool]) -> bool:
        """Return a try: ``complete`` completes the operation where the script says so."""
        self.case.note("tried", self.name)
        answer = self.tries.pop(0) if len(self.tries) > 1 else (self.tries or ["wait"])[0]
        completes = self.satisfied or answer == "complete"  # settled before the actions
        if self.on_try:
            self.act(self.on_try.pop(0))
        if completes:
            return complete()
        if answer == "throw":
            raise ScriptError
        if answer == "throw_severe":
            raise SevereScriptError
        return False

    def completed(self) -> None:
        self.case.note("completed", self.name)
        self.act(self.on_complete)

    def timed_out(self) -> None:
        self.case.note("timed_out", self.name)
        self.act(self.on_expiration)
