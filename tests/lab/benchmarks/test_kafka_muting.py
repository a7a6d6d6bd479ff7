"""The command of the findings about waiting channels: what it refuses."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from purgatory_lab.benchmarks.kafka_muting import main

pytestmark = pytest.mark.verify


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing"], "'nothing' is no scenario; there are: tls-standstill, fixed-order"),
        (["fixed-order", "--whole-broker"], "'fixed-order' is no scenario; there are: tls-stand"),
        (["--whole-broker", "--release", "2.8.2"], "a broker of release 2.8.2 needs ZooKeeper"),
        (["--release", "newest"], "'newest' is not a Kafka release such as '4.4.0'"),
    ],
)
def test_what_there_is_not_is_refused(arguments: list[str], said: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, [*arguments, "--work", str(tmp_path)])
    assert result.exit_code != 0
    assert said in result.output
    assert list(tmp_path.iterdir()) == []
