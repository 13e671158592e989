"""evalci's functions in every database that Datasette opens."""
import evalci
from datasette import hookimpl


@hookimpl
def prepare_connection(conn):
    evalci.load(conn)
