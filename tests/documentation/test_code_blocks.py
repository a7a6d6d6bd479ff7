"""Every code block of the documentation is executed or checked; a wrong one fails."""

from pathlib import Path

import pytest

from .code_blocks import ROOT, Block, PageRun, WrongBlock, blocks_of, pages

pytestmark = pytest.mark.documentation

NOT_RUN = {
    ("docs/course/play.md", "$ purgatory check javascript-wheel"),
    ("docs/reference/network.md", "$ purgatory bench floods --seconds 1"),
    ("docs/reference/bugs-that-people-had.md", "$ python -m purgatory_lab.museum --write docs"),
    (
        "docs/reference/figures.md",
        "$ python -m purgatory_lab.pairs_of_faults --component timer --pairs 30 --write docs",
    ),
    (
        "docs/how-to/check-traces.md",
        "$ python -m purgatory_lab.benchmarks.flipped_bits --write docs/how-to/check-traces.md",
    ),
    ("docs/how-to/check-a-tla-module.md", "$ purgatory tla check --with apalache"),
    ("CONTRIBUTING.md", "$ make check          # quick checks of a change: three minutes"),
    ("CONTRIBUTING.md", "$ .venv/bin/python -m pytest tests/model"),
    ("docs/how-to/check-traces.md", "$ purgatory trace check traces --out monday"),
    (
        "docs/how-to/check-traces.md",
        "$ purgatory trace check kafka://localhost:9092/steps --out monday",
    ),
    (
        "docs/how-to/watch-traces.md",
        "$ bin/kafka-topics.sh --bootstrap-server localhost:9092 --create --topic steps",
    ),
    ("docs/findings.md", "$ python -m purgatory_lab.verdicts --write docs"),
    ("docs/findings/apscheduler.md", "import logging"),
    ("docs/findings/gevent.md", "import time"),
    ("docs/findings.md", "$ python -m purgatory_lab.benchmarks.mass_expiry"),
    ("docs/findings.md", "$ python -m purgatory_lab.benchmarks.mass_expiry --system fluss"),
    ("docs/findings.md", "$ python -m purgatory_lab.benchmarks.kafka_muting --whole-broker"),
    ("docs/findings.md", "$ purgatory check kafka-real-clock --suite quick"),
    ("docs/how-to/check-traces-on-a-cluster.md", "$ purgatory trace check traces --engine spark"),
    (
        "docs/how-to/check-traces-on-a-cluster.md",
        "$ purgatory trace check traces --engine spark \\",
    ),
    (
        "docs/how-to/check-traces-on-a-cluster.md",
        "$ export PYSPARK_PYTHON=/opt/purgatory/bin/python "
        "PYSPARK_DRIVER_PYTHON=/opt/purgatory/bin/python",
    ),
    (
        "docs/how-to/check-traces-on-a-cluster.md",
        "$ spark-submit --master spark://host:7077"
        " --packages org.apache.hadoop:hadoop-aws:3.5.0 \\",
    ),
    (
        "docs/how-to/check-traces-on-a-cluster.md",
        "$ spark-submit --master yarn --deploy-mode cluster --conf spark.yarn.maxAppAttempts=1 \\",
    ),
    (
        "docs/how-to/check-traces-on-a-cluster.md",
        "$ PYSPARK_PYTHON=/opt/purgatory/bin/python $SPARK_HOME/sbin/start-connect-server.sh",
    ),
    (
        "docs/explanation/under-many-threads.md",
        "$ python tests/impl/interrupted_program.py --interrupts 2500 --threads 3 --by signal",
    ),
    ("docs/explanation/workload-studies.md", "$ purgatory study run all --workers 2"),
    ("docs/reference/trace-figures.md", "$ python -m purgatory_lab.benchmarks.trace_pipeline"),
    (
        "docs/reference/trace-figures.md",
        "$ python -m purgatory_lab.benchmarks.trace_pipeline --one spark --folder traces",
    ),
    ("docs/how-to/install.md", "$ make conformance            # the suite, in .venv: 50 MB"),
    ("docs/how-to/install.md", "$ .venv/bin/python -m pip install build"),
    (
        "docs/how-to/install.md",
        "$ python -m pip install dist/purgatory_spec-0.1.0-py3-none-any.whl",
    ),
    (
        "docs/how-to/install.md",
        "$ python -m pip install 'dist/purgatory_spec-0.1.0-py3-none-any.whl[tla]'",
    ),
    ("docs/how-to/emit-traces.md", "$ python -m purgatory_lab.benchmarks.record_corpora"),
    ("docs/how-to/emit-traces.md", "$ python -m purgatory_lab.benchmarks.trace_recording"),
    ("docs/reference/performance.md", "$ purgatory bench"),
    ("docs/how-to/use-the-compiled-build.md", "$ make wheel-compiled"),
    (
        "docs/how-to/judge-real-clock-code.md",
        "$ purgatory check my-timer/real-clock.toml --suite quick --seed 1",
    ),
    ("docs/how-to/replay-a-tla-trace.md", "$ purgatory tla simulate"),
    ("docs/reference/figures.md", "$ python -m purgatory_lab.benchmarks.conformance_throughput"),
    ("docs/reference/network.md", "$ purgatory bench network --write docs/reference/network.md"),
    ("docs/how-to/use-the-server.md", "$ export MALLOC_TOP_PAD_=67108864"),
    ("docs/reference/mutation.md", "$ make mutation"),
    (
        "docs/tutorial/first-adapter.md",
        "$ python -m pip install 'path/to/the/checkout[conformance]'",
    ),
    (
        "docs/tutorial/first-adapter.md",
        "$ time sh -c 'purgatory init --lang go mine && purgatory doctor mine"
        " && purgatory check mine --suite quick'",
    ),
}
"""The blocks that are not run: page and first line. Each has its reason in a comment above it."""

NOT_CHECKED = {
    (
        "docs/explanation/the-step.md",
        "rules (prose, numbered)          spec/timer.md, purgatory.md, memory-pool.md",
    )
}
"""The blocks of plain text: drawings."""


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def needs_java(page: Path) -> bool:
    return any("java" in block.words and "large" not in block.words for block in blocks_of(page))


def is_large(page: Path) -> bool:
    return any("large" in block.words for block in blocks_of(page))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PageRun:
    monkeypatch.chdir(tmp_path)
    return PageRun(tmp_path)


def _marks(page: Path) -> list[pytest.MarkDecorator]:
    """Leave a page to `make verify`, but for the README, the tutorial and the reference."""
    is_first = page.name == "README.md" or page.parent.name in ("tutorial", "reference")
    return [] if is_first else [pytest.mark.verify]


@pytest.mark.parametrize(
    "page", [pytest.param(page, id=name_of(page), marks=_marks(page)) for page in pages()]
)
def test_blocks_are_as_they_claim(page: Path, run: PageRun) -> None:
    run.prepare(page)
    for block in blocks_of(page):
        if not block.words & {"java", "large"}:
            run.run(block)


@pytest.mark.verify
@pytest.mark.java
@pytest.mark.parametrize("page", [page for page in pages() if needs_java(page)], ids=name_of)
def test_blocks_that_need_java_are_as_they_claim(page: Path, run: PageRun) -> None:
    run.prepare(page)
    for block in blocks_of(page):
        # The files that a page lays out are needed by the blocks with Java, too.
        laid_out = block.title and block.language in ("jsonl", "tla")
        if laid_out or ("java" in block.words and "large" not in block.words):
            run.run(block)


@pytest.mark.large
@pytest.mark.java
@pytest.mark.parametrize("page", [page for page in pages() if is_large(page)], ids=name_of)
def test_all_blocks_of_a_page_are_as_they_claim(page: Path, run: PageRun) -> None:
    run.prepare(page)
    for block in blocks_of(page):
        run.run(block)


def test_what_is_not_run_is_exactly_this_and_has_a_reason() -> None:
    not_run = [block for page in pages() for block in blocks_of(page) if "no-run" in block.words]
    assert {(name_of(block.page), block.first_line) for block in not_run} == NOT_RUN
    assert len(not_run) == len(NOT_RUN)
    assert [block.where for block in not_run if not block.reason.startswith("<!-- no-run: ")] == []


def test_plain_text_is_exactly_this() -> None:
    texts = [block for page in pages() for block in blocks_of(page) if block.language == "text"]
    assert {(name_of(block.page), block.first_line) for block in texts} == NOT_CHECKED


def test_words_behind_the_language_are_known() -> None:
    words = {word for page in pages() for block in blocks_of(page) for word in block.words}
    assert words <= {"java", "large", "measured", "no-run", "plays", "viewer"}


def test_there_is_something_to_check() -> None:
    languages = [block.language for page in pages() for block in blocks_of(page)]
    assert languages.count("python") >= 10
    assert languages.count("console") >= 20
    assert languages.count("jsonl") >= 5


# Controls: what is wrong fails.


def block_of(tmp_path: Path, info: str, text: str) -> Block:
    page = tmp_path / "page.md"
    page.write_text(f"Words.\n\n```{info}\n{text}\n```\n", encoding="utf-8")
    (block,) = blocks_of(page)
    return block


RIGHT = [
    ("python", "assert 1 + 1 == 2"),
    ("console", "$ echo one two\none two"),
    ("console", "$ printf 'a\\nb\\nc\\n'\na\n...\nc"),
    ("console", "$ echo one two three\none ... three"),
    ("console", "$ echo one; exit 3\none\n[exit 3]"),
    ("console", "$ true"),
    ("console", "$ echo one \\\n  two\none two"),
    ("console measured", "$ echo '12  34 ms'\n7  5 ms"),
    ("json", '{"request":"end","id":5}'),
    ("jsonl", '{"component":"timer","case":"a"}\n{"operation":{"op":"advance","to_ms":1}}'),
    ("toml", "[subject]\nname = 'a'"),
    ("yaml", "uses: OWNER/purgatory-spec@COMMIT\nwith:\n  suite: quick"),
]

WRONG = [
    ("python", "assert 1 + 1 == 3", "AssertionError"),
    ("python", "one two", "SyntaxError"),
    ('python title="module.py"', "one two", "SyntaxError"),
    ("console", "$ echo one\ntwo", "seen, exit code 0"),
    ("console", "$ echo one", "seen, exit code 0"),
    ("console", "$ echo one\none\ntwo", "seen, exit code 0"),
    ("console", "$ printf 'a\\nb\\n'\na\n...\nc", "seen, exit code 0"),
    ("console", "$ false", "seen, exit code 1"),
    ("console", "$ true\n[exit 1]", "seen, exit code 0"),
    ("console", "$ echo 12\n34", "seen, exit code 0"),
    ("console measured", "$ echo 12 ms\n12 s", "seen, exit code 0"),
    ("console", "one\n$ echo one", "before the first command"),
    ("json", '{"request":"end"', "Expecting"),
    ("json", '{"request":"end","id":"five"}', "int"),
    ("json", '{"request":"finish","id":5}', "finish"),
    ("json", '{"id":5,"observd":{}}', "observd"),
    ("json", '{"colour":"red"}', "example of"),
    ("jsonl", '{"component":"timer","case":"a"}\n{"operation":{"op":"leap"}}', "leap"),
    ("toml", "[subject", "Expected"),
    ("yaml", "uses: [quick", "expected"),
    ("yaml", "uses: OWNER/purgatory-spec@COMMIT\nwith:\n  sweet: quick", "no input 'sweet'"),
    ("tla", "Lamp == TRUE", "no module holds these lines"),
    ('diff title="poem.txt"', "-daisies\n+roses", "once"),
    ("go", "package main", "without a title"),
    ("ruby", "puts 1", "nobody knows how to check 'ruby'"),
    ("", "anything", "nobody knows how to check ''"),
]


@pytest.mark.parametrize(("info", "text"), RIGHT)
def test_a_right_block_passes(info: str, text: str, tmp_path: Path, run: PageRun) -> None:
    run.run(block_of(tmp_path, info, text))


@pytest.mark.parametrize(("info", "text", "problem"), WRONG)
def test_a_wrong_block_fails(
    info: str, text: str, problem: str, tmp_path: Path, run: PageRun
) -> None:
    (tmp_path / "poem.txt").write_text("roses\nviolets\n", encoding="utf-8")
    with pytest.raises(WrongBlock, match=rf"(?is)page\.md.*{problem}"):
        run.run(block_of(tmp_path, info, text))


def test_a_fence_without_an_end_fails(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\npass\n", encoding="utf-8")
    with pytest.raises(WrongBlock, match="never closed"):
        blocks_of(page)


def test_a_diff_changes_the_file(tmp_path: Path, run: PageRun) -> None:
    (tmp_path / "poem.txt").write_text("roses\nviolets\n", encoding="utf-8")
    run.run(block_of(tmp_path, 'diff title="poem.txt"', " roses\n-violets\n+daisies"))
    assert (tmp_path / "poem.txt").read_text(encoding="utf-8") == "roses\ndaisies\n"


def test_later_blocks_see_earlier_names(tmp_path: Path, run: PageRun) -> None:
    run.run(block_of(tmp_path, "python", "number = 2"))
    run.run(block_of(tmp_path, "python", "assert number == 2"))
