"""Files are data: no command starts a program or imports a module because a file names it."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from purgatory_conformance.kits import Clock, Language, project, write
from purgatory_conformance.problems import EXIT_SUBJECT_FAILED, EXIT_USAGE
from purgatory_conformance.registered import REGISTERED
from purgatory_conformance.subjects import kafka
from purgatory_spec.cases import Case, encode_case, read_case
from purgatory_spec.profiles import Component
from purgatory_spec.resources import specification_folder
from tests.conformance.command import SCRIPT, purgatory, purgatory_process

pytestmark = pytest.mark.verify

CASE = specification_folder() / "vectors" / "timer" / "across-zero.jsonl"
BUILT_IN = ("bundled", "bundled-", "mutant:", "profile:")


def sent(path: Path, subject: str) -> Path:
    """A case file that somebody has sent, which names a subject."""
    case = read_case(CASE)
    header = msgspec.structs.replace(case.header, subject=subject)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(encode_case(Case(header, case.steps)), encoding="utf-8")
    return path


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with a module, a program, a build and declarations that each leave ``STARTED``."""
    touches = f"import pathlib; pathlib.Path({str(tmp_path / 'STARTED')!r}).touch()"
    (tmp_path / "evil.py").write_text(f"{touches}\ndef make(): pass\n", encoding="utf-8")
    words = json.dumps(["{python}", "evil.py"])
    declared = {
        "command": f"command = {words}",
        "build": f"command = {words}\nbuild = {words}",
        "python": 'python = "evil:make"',
    }
    for name, lines in declared.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "evil.py").write_text(touches, encoding="utf-8")
        text = f'[subject]\nname = "{name}"\n{lines}\n'
        (tmp_path / name / "purgatory.toml").write_text(text, encoding="utf-8")
    return tmp_path


def started(folder: Path) -> bool:
    return (folder / "STARTED").exists()


NAMED = {
    "evil:make": "--subject evil:make",
    "evil": "",
    "command/purgatory.toml": "--subject command/purgatory.toml",
    "build/purgatory.toml": "--subject build/purgatory.toml",
    "python/purgatory.toml": "--subject python/purgatory.toml",
    "./command": "--command ./command",
    f"{sys.executable} evil.py": f"--command {shlex.quote(f'{sys.executable} evil.py')}",
    "a b.toml": "--subject 'a b.toml'",
    "//elsewhere/share/purgatory.toml": "--subject //elsewhere/share/purgatory.toml",
    **{
        each.name: f"--subject {each.name}"
        for each in REGISTERED
        if not each.name.startswith(BUILT_IN)
    },
    "kafka@4.0.0": "--subject kafka@4.0.0",
}
"""Subjects that a file may name, with the words that the user has to add in order to ask them."""


@pytest.mark.parametrize("subject", NAMED)
def test_a_file_that_names_a_subject_starts_nothing(hostile: Path, subject: str) -> None:
    """Nothing is started or imported, and the sentence has the line to type."""
    sent(hostile / "sent" / "case.jsonl", subject)
    before = set(sys.modules)
    one = purgatory(hostile, "replay", "sent/case.jsonl")
    all_of_them = purgatory(hostile, "replay", "sent")
    assert (one.returncode, all_of_them.returncode) == (EXIT_USAGE, EXIT_USAGE)
    assert not started(hostile)
    assert not {"evil", "adapter"} & (set(sys.modules) - before)
    assert not (hostile / "purgatory-work").exists()
    if NAMED[subject]:
        assert f"name it yourself: purgatory replay sent/case.jsonl {NAMED[subject]}" in one.stderr
        assert "".join(NAMED[subject].split()) in "".join(all_of_them.stdout.split())
    else:
        assert "is no subject" in one.stderr


def test_the_line_to_type_asks_the_subject(hostile: Path) -> None:
    """Given a case file that names a project: the project's command is told, and runs."""
    case = sent(hostile / "case.jsonl", "command/purgatory.toml")
    refused = purgatory(hostile, "replay", case.name)
    line = refused.stderr.strip().rpartition("yourself: purgatory ")[2]
    typed = purgatory(hostile, *shlex.split(line))
    assert typed.returncode == EXIT_SUBJECT_FAILED  # it is no adapter
    assert typed.stderr.startswith("command/purgatory.toml runs ")
    assert started(hostile)


@pytest.mark.parametrize("subject", ["bundled", "mutant:zero-dropped", ""])
def test_a_file_may_name_what_comes_with_the_suite(tmp_path: Path, subject: str) -> None:
    assert purgatory(tmp_path, "replay", str(sent(tmp_path / "a.jsonl", subject))).returncode == 0


@pytest.mark.parametrize("declaration", ["purgatory.toml", "pyproject.toml"])
def test_a_file_without_a_subject_asks_nobody_whom_the_folder_declares(
    hostile: Path, declaration: str
) -> None:
    """Ask no subject, and tell the two lines that ask one."""
    folder = hostile / "command"
    text = (folder / "purgatory.toml").read_text(encoding="utf-8")
    if declaration == "pyproject.toml":
        (folder / "purgatory.toml").unlink()
        text = text.replace("[subject]", "[tool.purgatory.subject]")
        (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    sent(folder / "case.jsonl", "")
    refused = purgatory(folder, "replay", "case.jsonl")
    assert refused.returncode == EXIT_USAGE
    assert not started(hostile)
    for word in (declaration, "bundled"):
        assert f"purgatory replay case.jsonl --subject {word}" in refused.stderr
    assert purgatory(folder, "replay", "case.jsonl", "--subject", "bundled").returncode == 0
    assert purgatory(folder, "replay", "case.jsonl", "--subject", declaration).returncode == 3
    assert started(hostile)


@pytest.mark.parametrize("command", ["check", "doctor", "deviations", "campaign"])
def test_what_a_folder_has_run_is_told_first(hostile: Path, command: str) -> None:
    """Its first line tells both, and it is printed before the build runs."""
    (hostile / "build" / "evil.py").write_text("import sys; sys.exit('seen')", encoding="utf-8")
    words = [command, "verify"] if command == "deviations" else [command]
    ended = purgatory(hostile, *words, "build")
    assert ended.returncode == EXIT_SUBJECT_FAILED
    runs = f"{sys.executable} evil.py"
    told = f"build/purgatory.toml runs {runs}, then {runs}"
    shown = ended.stdout if command in ("check", "doctor") else ended.stderr
    lines = shown.splitlines()
    assert told in lines if command == "campaign" else told == lines[0]
    assert "seen" in ended.stderr


def test_json_of_the_doctor_is_json_alone(tmp_path: Path) -> None:
    write(project(Language.PYTHON, [Component.TIMER], Clock.VIRTUAL, "mine"), tmp_path / "mine")
    ended = purgatory(tmp_path, "doctor", "mine", "--json")
    assert ended.stderr.startswith("mine/purgatory.toml runs ")
    assert json.loads(ended.stdout)


def test_a_module_that_a_folder_names_is_told_first(hostile: Path) -> None:
    ended = purgatory(hostile, "check", "python")
    first = f"python/purgatory.toml imports evil:make from {hostile / 'python'}"
    assert ended.stdout.splitlines()[0] == first


def test_what_is_told_shows_what_cannot_be_printed(hostile: Path) -> None:
    text = '[subject]\nname = "x"\ncommand = ["\\u001b]0;owned\\u0007", "\\u202e\\n"]\n'
    (hostile / "command" / "purgatory.toml").write_text(text, encoding="utf-8")
    ended = purgatory(hostile, "check", "command")
    said = ended.stdout + ended.stderr
    assert "\\x1b]0;owned\\x07" in said.splitlines()[0]
    assert all(letter.isprintable() or letter == "\n" for letter in said)


SHADOWED = ("json", "click", "msgspec", "random", "pickle", "struct", "pyarrow", "purgatory_spec")


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "check bundled --suite quick --component memory-pool",
        "campaign mutant:zero-dropped --runs 20 --engine local --component timer",
        "replay case.jsonl",
        "model check own.txt",
        "course check 3.1 solution.txt",
        "trace check traces --engine local",
        "list subjects",
    ],
)
def test_no_module_of_the_present_folder_is_imported(tmp_path: Path, words: str) -> None:
    """None is imported; Python's own ``-m`` without ``-P``, as a control, imports one."""
    for name in SHADOWED:
        text = f"import pathlib\npathlib.Path({str(tmp_path)!r}, 'IMPORTED').touch()\n"
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    sent(tmp_path / "case.jsonl", "bundled")
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "t.jsonl").write_text("{}\n", encoding="utf-8")
    for name in ("own.txt", "solution.txt"):
        (tmp_path / name).write_text("x = 1\n", encoding="utf-8")
    purgatory_process(tmp_path, *words.split())
    assert not (tmp_path / "IMPORTED").exists()
    control = [sys.executable, "-m", "purgatory_conformance", "--version"]
    subprocess.run(control, cwd=tmp_path, capture_output=True, check=False)
    assert (tmp_path / "IMPORTED").exists()


def test_maven_looks_for_extensions_in_no_folder_further_up(tmp_path: Path) -> None:
    """The folder that it is built in has a ``.mvn`` of its own, where Maven's search ends."""
    sources = tmp_path / "sources"
    sources.mkdir()
    looks = "import pathlib, sys; sys.exit(not pathlib.Path('.mvn').is_dir())"
    kafka._build(sources, tmp_path / "built", "digest", (sys.executable, "-c", looks))
    assert (tmp_path / "built" / ".mvn").is_dir()


MAKES = {
    "raises SystemExit(0)": "def make(): raise SystemExit(0)",
    "calls sys.exit()": "import sys\ndef make(): sys.exit()",
    "raises an exception": "def make(): raise ArithmeticError('mine')",
    "raises GeneratorExit": "def make(): raise GeneratorExit",
    "raises a BaseException of its own": (
        "class Stop(BaseException): pass\ndef make(): raise Stop('mine')"
    ),
    "exits in the import": "import sys\nsys.exit(0)",
    "exits in a step": "exits = 'step'",
    "exits in new": "exits = 'new'",
    "exits in end": "exits = 'end'",
    "exits in its profiles": "exits = 'profiles'",
    "exits in close": "exits = 'close'",
}
SUBJECT = """
from purgatory_conformance.subjects.bundled import bundled_subject

class Exiting:
    def __init__(self):
        self.inner = bundled_subject()
    @property
    def implementation(self):
        return self.inner.implementation
    @property
    def profiles(self):
        if exits == 'profiles': raise SystemExit(0)
        return self.inner.profiles
    def new(self, case, configuration):
        if exits == 'new': raise SystemExit(0)
        self.inner.new(case, configuration)
    def do_all(self, operations):
        for number, outcome in enumerate(self.inner.do_all(operations)):
            if exits == 'step' and number == 2: raise SystemExit(0)
            yield outcome
    def end(self):
        self.inner.end()
        if exits == 'end': raise SystemExit(0)
    def close(self):
        self.inner.close()
        if exits == 'close': raise SystemExit(0)

make = Exiting
"""


@pytest.mark.parametrize("way", MAKES)
def test_code_under_test_that_ends_the_program_has_failed(tmp_path: Path, way: str) -> None:
    """Both end with the code of a subject that failed, and say what was raised."""
    module = f"subject_{list(MAKES).index(way)}"
    text = MAKES[way] + (SUBJECT if "exits = " in MAKES[way] else "")
    (tmp_path / f"{module}.py").write_text(text, encoding="utf-8")
    sent(tmp_path / "case.jsonl", "")
    for words in (
        ("check", f"{module}:make", "--suite", "quick", "--component", "timer"),
        ("replay", "case.jsonl", "--subject", f"{module}:make"),
    ):
        ended = purgatory_process(tmp_path, *words)
        said = ended.stdout + ended.stderr
        assert ended.returncode == EXIT_SUBJECT_FAILED, said
        assert "raised" in said
        assert "a defect of this program" not in said


def test_an_exit_that_nobody_foresees_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leaves(*_: object) -> None:
        raise SystemExit(0)

    monkeypatch.setattr("purgatory_conformance.commands.replay.read_case", leaves)
    ended = purgatory(tmp_path, "replay", "case.jsonl")
    assert ended.returncode == EXIT_SUBJECT_FAILED
    assert "has ended this program" in ended.stderr


@pytest.mark.parametrize("command", ["check", "model check", "course check"])
def test_help_says_that_code_is_run(tmp_path: Path, command: str) -> None:
    said = purgatory(tmp_path, *command.split(), "--help").stdout
    assert "you trust" in " ".join(said.split())


HOSTILE_TEXT = "\x1b]0;owned\x07\x1b[2J\u202e\r\n<script>alert(1)</script>[link=x]y"


def test_strings_of_files_reach_the_terminal_as_escapes(tmp_path: Path) -> None:
    """No character is printed that a terminal would act on."""
    case = read_case(CASE)
    for name in ("subject", "title", "origin"):
        header = msgspec.structs.replace(case.header, **{name: HOSTILE_TEXT})
        (tmp_path / f"{name}.jsonl").write_text(encode_case(Case(header, case.steps)), "utf-8")
    quoted = json.dumps(HOSTILE_TEXT)
    (tmp_path / "key.jsonl").write_text(f"{{{quoted}: 1}}\n", encoding="utf-8")
    toml = f"[subject]\nname = {quoted}\npython = {quoted}\n"
    (tmp_path / "declared").mkdir()
    (tmp_path / "declared" / "purgatory.toml").write_text(toml, encoding="utf-8")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "purgatory.toml").write_text(f"[subject]\n{quoted} = 1\nname=1\n", encoding="utf-8")
    commands = [
        ("replay", "subject.jsonl"),
        ("replay", "title.jsonl"),
        ("replay", "title.jsonl", "--subject", "mutant:zero-dropped"),
        ("replay", "key.jsonl"),
        ("replay", "."),
        ("report", "key.jsonl", "html"),
        ("coverage", "key.jsonl"),
        ("check", "declared"),
        ("doctor", "declared"),
        ("check", "broken"),
        ("deviations", "verify", "declared"),
        ("trace", "check", "key.jsonl"),
    ]
    for words in commands:
        ended = purgatory(tmp_path, *words)
        for letter in ended.stdout + ended.stderr:
            assert letter.isprintable() or letter == "\n", (words, ended)


@pytest.mark.skipif(os.name == "nt", reason="there are no such files")
@pytest.mark.parametrize("kind", ["a pipe", "a device", "a socket", "a folder"])
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path, kind: str) -> None:
    name = what_is_no_file(tmp_path, kind)
    good = sent(tmp_path / "case.jsonl", "bundled").name
    assert purgatory(tmp_path, "replay", good).returncode == 0
    for words in (
        ("replay", name),
        ("report", name, "html"),
        ("coverage", name),
        ("check", name),
        ("doctor", name),
        ("deviations", "verify", name),
        ("model", "check", name),
        ("course", "check", "3.1", name),
        ("course", "check", "1.1", name),
        ("trace", "check", name),
        ("trace", "linearize", name),
        ("trace", "convert", name, "out.parquet"),
        ("bench", "report", name),
    ):
        ended = subprocess.run(
            [str(SCRIPT), *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert "Traceback" not in ended.stderr, ended
        if not (kind == "a folder" and words[0] == "trace"):  # a folder of traces is read
            assert ended.returncode == EXIT_USAGE, (words, ended)


def what_is_no_file(folder: Path, kind: str) -> str:
    """The name of something that is no file."""
    import socket

    if kind == "a device":
        return "/dev/zero"
    if kind == "a pipe":
        os.mkfifo(folder / "named")
    elif kind == "a folder":
        (folder / "named").mkdir()
    else:
        here = socket.socket(socket.AF_UNIX)
        cwd = Path.cwd()
        os.chdir(folder)  # the path of a socket has few letters
        here.bind("named")
        os.chdir(cwd)
        here.close()
    return "named"


@pytest.mark.skipif(os.name == "nt", reason="there are no such files")
def test_a_pipe_that_a_file_names_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pyproject.toml")
    assert purgatory(tmp_path, "replay", str(CASE), "--subject", "bundled").returncode == 0
    assert purgatory(tmp_path, "replay", str(CASE)).returncode == 0
    deviation = (
        '[[deviation]]\nrule = "TIMER-ZERO-DELAY"\nvariant = "zero-dropped"\nreplay = "%s"\n'
    )
    for replay in ("/dev/zero", "../pyproject.toml", "a\\u0000b"):
        folder = tmp_path / "mine"
        folder.mkdir(exist_ok=True)
        text = f'[subject]\nname = "mine"\ncommand = ["x"]\n{deviation % replay}'
        (folder / "purgatory.toml").write_text(text, encoding="utf-8")
        ended = purgatory(tmp_path, "check", "mine")
        assert ended.returncode == EXIT_USAGE, ended
