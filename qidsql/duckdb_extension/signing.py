"""Creates a repository of signed extensions, which DuckDB 2.0 and later load without -unsigned."""

import hashlib
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from shutil import which

from qidsql.duckdb_extension.build import NAME, SIGNATURE
from qidsql.duckdb_extension.hosts import Host
from qidsql.duckdb_extension.install import write_extension
from qidsql.duckdb_extension.settings import SUFFIX, Settings, user_settings
from qidsql.errors import SourceError
from qidsql.sql import quoted

HASHED_PART = 1 << 20  # bytes per hashed part
METADATA = ".well-known/duckdb-extension-repo.json"  # where DuckDB looks for the keys of a repository


def sign_repository(folder: Path, key: Path, hosts: Sequence[Host]) -> list[Path]:
    """Writes a signed extension for each host with DuckDB 2.0 or later to a repository folder; returns the files.

    `key` is an RSA key of 2048 bits in PEM. Raises SourceError.
    """
    wanted = [host for host in hosts if int(host.version.removeprefix("v").split(".")[0]) >= 2]
    if not wanted:
        raise SourceError("signed repositories need DuckDB 2.0 or later, which was not found")
    settings = Settings.of_this_python()
    paths = []
    for version, platform in dict.fromkeys((host.version, host.platform) for host in wanted):
        path = folder / version / platform / NAME
        write_extension(path, platform, settings)
        path.with_name(path.name + SUFFIX).unlink()  # not copied by DuckDB; the user's settings are used instead
        content = path.read_bytes()[:-SIGNATURE]
        path.write_bytes(content + signature(content, key))
        paths.append(path)
    metadata = folder / METADATA
    metadata.parent.mkdir(exist_ok=True)
    metadata.write_text(
        json.dumps({"version": 1, "signature_keys": [public_key(key)]}, indent=2) + "\n", encoding="utf-8"
    )
    settings.write(user_settings())
    return paths


def signature(content: bytes, key: Path) -> bytes:
    """DuckDB's signature of a file without its last 256 bytes: PKCS #1 v1.5 over the SHA-256 of the SHA-256s of its
    parts. Raises SourceError.
    """
    hashes = b"".join(
        hashlib.sha256(content[at : at + HASHED_PART]).digest() for at in range(0, len(content), HASHED_PART)
    )
    signed = _openssl(["dgst", "-sha256", "-sign", str(key)], hashes)
    if len(signed) != SIGNATURE:
        raise SourceError(f"{key} must be an RSA key of {8 * SIGNATURE} bits: openssl genrsa -out key.pem 2048")
    return signed


def public_key(key: Path) -> str:
    """The public key in PEM. Raises SourceError."""
    return _openssl(["rsa", "-in", str(key), "-pubout"], b"").decode().strip()


def repository_sql(folder: Path, key: Path) -> str:
    """The SQL to run once in DuckDB 2.0; later the last statement is enough."""
    where = quoted(str(folder.resolve()))
    return (
        f"SET allow_extension_repositories = 'allowed';\n"
        f"CREATE EXTENSION REPOSITORY qidsql WITH PREFIX {where} USING PUBLIC KEY '{public_key(key)}';\n"
        f"INSTALL qidsql FROM qidsql;\n"
        f"LOAD qidsql FROM qidsql;  -- in later sessions this alone\n"
    )


def _openssl(arguments: list[str], given: bytes) -> bytes:
    openssl = which("openssl")
    if openssl is None:
        raise SourceError("signing needs the program openssl, which is not on the PATH")
    done = subprocess.run([openssl, *arguments], input=given, capture_output=True, check=False)
    if done.returncode:
        raise SourceError(f"openssl could not use the key {arguments[-1] if 'dgst' in arguments else arguments[2]}")
    return done.stdout
