"""Results on one of Hadoop's file systems, whole or not at all.

The tables are written to a folder of a new name; then ``manifest.json``, which names the folder, is
replaced in one step: on an object store by an object, which is there when it is complete, elsewhere
by renaming a file. Then the results of before are removed. There is no lock: where two checks write
to the same place, the last manifest counts.
"""

import hashlib
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from purgatory_conformance.problems import EXIT_USAGE, Problem
from purgatory_spark.engine.session import is_connect
from purgatory_traces.engines.sinks import Conclusion
from purgatory_traces.errors import PipelineError, Refused
from purgatory_traces.results.manifest import (
    MANIFEST,
    RESULTS,
    STAGING,
    Manifest,
    ResultFile,
    decoded,
    encoded,
    is_a_checks,
    is_own,
    read_manifest,
)
from purgatory_traces.traces.addresses import is_address

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OBJECT_STORES = ("s3a", "s3", "gs", "abfs", "abfss", "wasb", "wasbs")


@dataclass
class HadoopResults:
    """The results of one check in a folder that an address names.

    Attributes:
        spark: A session of this process.
        top: The address of the folder.
    """

    spark: "SparkSession"
    top: str
    _name: str = field(default_factory=lambda: secrets.token_hex(8))
    _files: list[ResultFile] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Return the address of the folder of the tables."""
        return f"{self.top}/{RESULTS}{self._name}"

    @property
    def staging(self) -> str:
        """Return the address of a folder for intermediate files."""
        return f"{self.top}/{STAGING}{self._name}"

    def adopt(self, files: Iterable[ResultFile]) -> None:
        """Take files of tables, which lie at ``address``, for results."""
        self._files.extend(files)

    def commit(self, conclusion: Conclusion, pages: Sequence[tuple[str, str]] = ()) -> str:
        """Put the written tables in the place of the results; the address of the results."""
        for name, text in pages:
            content = text.encode()
            self._write(f"{self.address}/{name}", content)
            digest = hashlib.sha256(content).hexdigest()
            self._files.append(ResultFile(name, len(content), digest))
        folder = f"{RESULTS}{self._name}"
        manifest = conclusion.manifest(folder, self._files)
        self._replace(f"{self.top}/{MANIFEST}", encoded(manifest))
        self._remove_all_but(folder)
        return self.address

    def _replace(self, address: str, content: bytes) -> None:
        if urlsplit(address).scheme in _OBJECT_STORES:
            self._write(address, content)
            return
        unfinished = f"{self.staging}/{MANIFEST}"
        self._write(unfinished, content)
        java = self._java
        options = java.org.apache.hadoop.fs.Options.Rename
        gateway: Any = self.spark.sparkContext._gateway
        chosen = gateway.new_array(options, 1)
        chosen[0] = options.OVERWRITE
        files = java.org.apache.hadoop.fs.FileContext.getFileContext(
            self._path(address).toUri(), self._configuration
        )
        files.rename(self._path(unfinished), self._path(address), chosen)

    def _write(self, address: str, content: bytes) -> None:
        path = self._path(address)
        stream = path.getFileSystem(self._configuration).create(path, True)
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()

    def _remove_all_but(self, kept: str) -> None:
        """Remove what checks have left in the folder, of which no manifest tells."""
        top = self._path(self.top)
        files = top.getFileSystem(self._configuration)
        if not files.exists(top):
            return
        for status in files.listStatus(top):
            name = status.getPath().getName()
            if is_own(name) and name != kept:
                files.delete(status.getPath(), True)

    def _refuse_foreign(self) -> None:
        content = self.read(MANIFEST)
        if content is not None and not is_a_checks(content):
            raise Refused(
                f"{self.top}/{MANIFEST} is there, and is none that a check has written: name "
                "another folder with --out, or move the file away"
            )

    def read(self, name: str) -> bytes | None:
        """Return the contents of a file in the folder; None where the file is missing."""
        path = self._path(f"{self.top}/{name}")
        files = path.getFileSystem(self._configuration)
        if not files.exists(path):
            return None
        stream = files.open(path)
        try:
            return bytes(self._java.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    @property
    def _java(self) -> Any:
        return self.spark.sparkContext._jvm

    @property
    def _configuration(self) -> Any:
        return self.spark.sparkContext._jsc.hadoopConfiguration()

    def _path(self, address: str) -> Any:
        return self._java.org.apache.hadoop.fs.Path(address)


@contextmanager
def hadoop_results(spark: "SparkSession", address: str) -> Iterator[HadoopResults]:
    """Prepare to write results into the folder that an address names.

    Raises:
        Problem: the session is one of Spark Connect, which cannot replace a manifest.
        Refused: the folder has a ``manifest.json`` that is no check's.
    """
    if is_connect(spark):
        raise Problem(
            "results go to an address from a Spark of this process alone, not through Spark "
            "Connect: use --master or spark-submit, or name a folder with --out",
            EXIT_USAGE,
        )
    results = HadoopResults(spark, address.rstrip("/"))
    results._refuse_foreign()
    try:
        yield results
    finally:
        staging = results._path(results.staging)
        staging.getFileSystem(results._configuration).delete(staging, True)


def manifest_at(spark: "SparkSession", folder: str) -> Manifest:
    """Return the manifest of the results in a folder that a path or an address names.

    Raises:
        PipelineError: there is none.
    """
    if not is_address(folder):
        return read_manifest(Path(folder))
    content = HadoopResults(spark, folder.rstrip("/")).read(MANIFEST)
    if content is None:
        raise PipelineError(f"there are no results in {folder}: it has no {MANIFEST}")
    return decoded(content, f"{folder}/{MANIFEST}")
