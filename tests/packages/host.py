"""Datasette or sqlite-utils as far as a plugin of theirs sees: the name hookimpl in a
module of theirs, the hook prepare_connection, and plugins found by their entry points.
The program itself is used where its source is given.

    host.py GROUP MODULE [SOURCE]
"""
import asyncio
import sqlite3
import sys
import types

import pluggy

group, module, *source = sys.argv[1:]


def played():
    """What the plugin makes of a connection, by a host that this file plays."""
    host = types.ModuleType(group)
    host.hookimpl = pluggy.HookimplMarker(group)
    sys.modules[group] = host

    class Hooks:
        @pluggy.HookspecMarker(group)
        def prepare_connection(self, conn):
            """A connection was opened."""

    manager = pluggy.PluginManager(group)
    manager.add_hookspecs(Hooks)
    found = manager.load_setuptools_entrypoints(group)
    db = sqlite3.connect(":memory:")
    manager.hook.prepare_connection(conn=db)
    return found, db.execute("SELECT evalci_version()").fetchone()[0]


def real():
    sys.path.insert(0, source[0])
    if group == "datasette":
        from datasette.app import Datasette
        answer = asyncio.run(Datasette(memory=True).client.get("/_memory.json?sql=select+evalci_version()+as+v&_shape=array"))
        return 1, answer.json()[0]["v"]
    import sqlite_utils
    return 1, next(sqlite_utils.Database(memory=True).query("SELECT evalci_version() AS v"))["v"]


print(*(real() if source else played()))
