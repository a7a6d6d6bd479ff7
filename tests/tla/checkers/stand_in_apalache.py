"""Answers as Apalache's documentation says that it does; what it answers is in its environment.

It stands in for a checker that no package index has. ``STAND_IN`` names a JSON file: the lines to
print, the exit code, the counterexample to write. What it was called with is written beside it.
"""

import json
import os
import sys
from pathlib import Path


def main(words: list[str]) -> int:
    """Answer one call."""
    answer = json.loads(Path(os.environ["STAND_IN"]).read_text(encoding="utf-8"))
    files = sorted(path.name for path in Path.cwd().iterdir())
    configuration = next((each.partition("=")[2] for each in words if "--config=" in each), None)
    called = {
        "words": words,
        "files": files,
        "module": Path(words[-1]).read_text(encoding="utf-8"),
        "memory": os.environ.get("JVM_ARGS"),
        "configuration": Path(configuration).read_text(encoding="utf-8") if configuration else "",
    }
    with Path(os.environ["STAND_IN"] + ".called").open("a", encoding="utf-8") as log:
        log.write(json.dumps(called) + "\n")
    folder = next(Path(each.partition("=")[2]) for each in words if "--run-dir=" in each)
    folder.mkdir(parents=True, exist_ok=True)
    if "itf" in answer:
        (folder / "violation1.itf.json").write_text(answer["itf"], encoding="utf-8")
    print("\n".join(answer["lines"]))
    return int(answer["code"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
