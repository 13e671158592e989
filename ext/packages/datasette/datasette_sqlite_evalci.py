"""In Datasette: evalci's functions in every database, and its pages in each that has a table or view of results.

The pages are the queries of sql/datasette/metadata.yaml; those of the same name in Datasette's own
configuration take their place.
"""
import sqlite_evalci
import yaml
from datasette import hookimpl

HAS_RESULTS = "SELECT count(*) FROM sqlite_master WHERE type IN ('table', 'view') AND lower(name) = 'results'"


@hookimpl
def prepare_connection(conn):
    sqlite_evalci.load(conn)


async def queries_of(datasette, name):
    """The pages of a database; none where it has no results."""
    found = await datasette.get_database(name).execute(HAS_RESULTS)
    if not found.rows[0][0]:
        return {}
    # Datasette 1.0 has the configuration apart from the metadata.
    settings = (datasette.config or {}) if hasattr(datasette, "config") else datasette.metadata()
    configured = ((settings.get("databases") or {}).get(name) or {}).get("queries") or {}
    queries = yaml.safe_load(sqlite_evalci.sql("datasette/metadata.yaml"))["databases"]["evals"]["queries"]
    return {key: query for key, query in queries.items() if key not in configured}


@hookimpl(optionalhook=True)
def canned_queries(datasette, database):
    """Called by Datasette before 1.0a31, for each database."""
    return lambda: queries_of(datasette, database)


@hookimpl
def startup(datasette):
    """Called by later versions when they start."""
    async def add():
        for name in datasette.databases:
            for key, query in (await queries_of(datasette, name)).items():
                await datasette.add_query(name, key, query["sql"], title=query["title"], description_html=query.get("description_html"),
                                          parameters=query.get("params"))
    return add if hasattr(datasette, "add_query") else None
