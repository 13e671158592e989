"""evalci's functions in every database that sqlite-utils opens."""
import evalci
from sqlite_utils import hookimpl


@hookimpl
def prepare_connection(conn):
    evalci.load(conn)
