"""Who may do what in the embedded server: the superuser, and the role that Baza works as.

In: a connection of the superuser. Out: passwords for both, asked for on every connection, and a database whose owner is
the second role. It may change everything in that database and nothing beside it: a program that got hold of its
connection could not read files or start programs, as a superuser's could.
"""

import os
import secrets
from collections.abc import Callable
from importlib.resources import files

import psycopg
from psycopg import sql

from adapters.database.embedded.cluster import SUPERUSER
from adapters.database.embedded.seat import Seat

DATABASE = ROLE = "baza"
_HBA = "pg_hba.conf"
_RULES = """# Written by Baza: whoever connects is asked for a password.
local all all scram-sha-256
host all all 127.0.0.1/32 scram-sha-256
host all all ::1/128 scram-sha-256
"""


def password_of(role: str, seat: Seat) -> str:
    """From its file beside the cluster, which is made when it is missing."""
    path = seat.folder / f"{role}.password"
    if not path.exists():
        unfinished = path.with_suffix(".unfinished")
        unfinished.unlink(missing_ok=True)
        unfinished.touch(mode=0o600)
        unfinished.write_text(secrets.token_urlsafe(24), encoding="ascii")
        if os.geteuid() == 0:  # what root makes in a person's folder stays usable for that person
            owner = seat.folder.stat()
            os.chown(unfinished, owner.st_uid, owner.st_gid)
        unfinished.rename(path)
    return path.read_text(encoding="ascii")


def ensure_passwords(connection: psycopg.Connection, seat: Seat) -> None:
    """A fresh cluster, and one of an earlier Baza, lets everybody in: set both passwords, then ask for them."""
    rules = seat.cluster / _HBA
    if rules.read_text(encoding="utf-8", errors="replace") == _RULES:
        return
    for role in (SUPERUSER, ROLE):
        if not connection.execute("select 1 from pg_roles where rolname = %s", [role]).fetchone():
            connection.execute(sql.SQL("create role {} login").format(sql.Identifier(role)))
        password = sql.Literal(password_of(role, seat))
        connection.execute(sql.SQL("alter role {} password {}").format(sql.Identifier(role), password))
    rules.write_text(_RULES, encoding="ascii")  # in place: it stays the server's own
    connection.execute("select pg_reload_conf()")


def ensure_database(connection: psycopg.Connection, url: Callable[[str], str]) -> None:
    """The database, owned by ROLE, with what only a superuser can add; in one of an earlier Baza, all that is in it
    changes hands. `url` is the superuser's for a database."""
    owners = "select pg_get_userbyid(datdba) from pg_database where datname = %s"
    found = connection.execute(owners, [DATABASE]).fetchone()
    if found is not None and found[0] == ROLE:
        return
    if found is None:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(DATABASE)))
    with psycopg.connect(url(DATABASE)) as inside:
        inside.execute(files(__package__).joinpath("hand_over.sql").read_bytes())
