"""What tests of the pipeline share: one Spark session for all of them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """A session on two processors; tests that ask for it bear the marker ``spark``."""
    from purgatory_spark.engine.session import spark_session

    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "1g",
    }
    with spark_session(master="local[2]", settings=settings) as session:
        yield session
