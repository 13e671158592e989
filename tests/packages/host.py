"""Imitates Datasette or sqlite-utils for a plugin: a module with the name hookimpl, the hooks, and plugins found by
their entry points.  With SOURCE, the program itself is used.

    host.py GROUP MODULE [SOURCE]

For Datasette it asks for every page of a database that has only results, as Datasette does when
it starts; a page may take a second.  Prints the number of pages and evalci's version.
"""
import asyncio
import re
import sqlite3
import sys
import time
import types

import pluggy

group, module, *source = sys.argv[1:]
DATABASE = "evals.db"
# Models, questions and tasks of what is served: a page may take a second.
MODELS, ITEMS, TASKS = 20, 500, 10


def results():
    """A database with results and nothing else."""
    with sqlite3.connect(DATABASE) as db:
        db.execute("CREATE TABLE results(model, task, item, attempt, correct)")
        db.executemany("INSERT INTO results VALUES (?, ?, ?, ?, ?)", (
            (f"model {m}", f"task {i % TASKS}", i, a, int((i * 7919 + a * 31 + m * 17) % 101 < 30 + 3 * m))
            for m in range(MODELS) for i in range(ITEMS) for a in (1, 2)))
    db.close()


def demand(what, condition):
    if not condition:
        sys.exit(f"not so: {what}")


class Host:
    """The part of a Datasette that the plugin uses; its configuration replaces one page of the plugin."""

    databases = {"evals": None}

    def metadata(self):
        return {"databases": {"evals": {"queries": {"ranking": "SELECT 1"}}}}

    def get_database(self, name):
        return self

    async def execute(self, sql):
        return types.SimpleNamespace(rows=self.db.execute(sql).fetchall())


def played():
    """What the plugins do with a connection and with a database, in the imitated host."""
    host = types.ModuleType(group)
    host.hookimpl = pluggy.HookimplMarker(group)
    sys.modules[group] = host
    hookspec = pluggy.HookspecMarker(group)

    class Hooks:
        @hookspec
        def prepare_connection(self, conn):
            """A connection was opened."""

        @hookspec
        def canned_queries(self, datasette, database):
            """A database's queries."""

        @hookspec
        def render_cell(self, value):
            """A cell as HTML."""

    manager = pluggy.PluginManager(group)
    manager.add_hookspecs(Hooks)
    found = manager.load_setuptools_entrypoints(group)
    results()
    db = sqlite3.connect(DATABASE)
    manager.hook.prepare_connection(conn=db)
    pages = {}
    if group == "datasette":
        pages = queries_played(manager, db)
        demand("plugins for the database and for pictures", found == 2)
    return len(pages), db.execute("SELECT evalci_version()").fetchone()[0]


def queries_played(manager, db):
    datasette = Host()
    datasette.db = db
    (ask,) = manager.hook.canned_queries(datasette=datasette, database="evals")
    pages = asyncio.run(ask())
    demand("a query of the configuration comes before the plugin's", "ranking" not in pages)
    for name, query in pages.items():
        begun = time.process_time()
        rows = db.execute(query["sql"], dict.fromkeys(query.get("params", []), "")).fetchall()
        demand(f"{name} is answered in {time.process_time() - begun:.3f} s", rows and time.process_time() - begun < 1)
        shown = [picture for picture in manager.hook.render_cell(value=rows[0][0]) if picture]
        demand(f"{name} shows {len(shown)} pictures", len(shown) == (name in ("forest", "heatmap")))
    datasette.db = sqlite3.connect(":memory:")
    demand("a database without results has no pages", asyncio.run(ask()) == {})
    return pages


async def pages_served(client, listing):
    """Every page that Datasette lists, as HTML and as JSON."""
    names = sorted(set(re.findall(r'href="/evals/(\w+)"', (await client.get(listing)).text)) - {"results"})
    for name in names:
        page, data = await client.get(f"/evals/{name}"), await client.get(f"/evals/{name}.json?_shape=array")
        demand(f"{name}: {page.status_code}, {data.status_code} {data.text[:300]}", page.status_code == data.status_code == 200 and data.json())
        pictures = page.text.count('<img alt="A picture drawn by evalci"')
        demand(f"{name} shows {pictures} pictures", pictures == (name in ("forest", "heatmap")))
    return len(names)


def real():
    sys.path.insert(0, source[0])
    if group == "datasette":
        from datasette.app import Datasette
        results()

        async def served():
            datasette = Datasette([DATABASE])
            await datasette.invoke_startup()
            answer = await datasette.client.get("/evals.json?sql=select+evalci_version()+as+v&_shape=array", follow_redirects=True)
            listing = "/evals/-/queries" if hasattr(datasette, "add_query") else "/evals"
            return await pages_served(datasette.client, listing), answer.json()[0]["v"]
        return asyncio.run(served())
    import sqlite_utils
    return 0, next(sqlite_utils.Database(memory=True).query("SELECT evalci_version() AS v"))["v"]


print(*(real() if source else played()))
