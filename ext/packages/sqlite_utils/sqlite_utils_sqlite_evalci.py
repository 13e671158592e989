"""evalci's functions in every database that sqlite-utils opens."""
import sqlite_evalci
from sqlite_utils import hookimpl


@hookimpl
def prepare_connection(conn):
    sqlite_evalci.load(conn)
