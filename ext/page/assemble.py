#!/usr/bin/python3
"""Puts together what emscripten made, the files of sql/ and ext/page's own:

    assemble.py DIRECTORY SCRIPT...

evalci.mjs, the module for Node and for other pages; and, where ext/page has the parts of
one, evalci.html: a page with everything inside.
"""
import base64
import gzip
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = ROOT / "ext/page"
MOST = 3_000_000

HEAD = (HERE / "api.txt").read_text(encoding="utf-8")
EXPORTS = """
globalThis.crypto ??= (await import("node:crypto")).webcrypto; // Node 18 has it there only
export const load = (options = {}) => loadEvalci({ wasm: new URL("evalci.wasm", import.meta.url), ...options });
"""


def sql_files():
    home = ROOT / "sql"
    return {path.relative_to(home).as_posix(): path.read_text(encoding="utf-8") for path in sorted(home.rglob("*.sql"))}


def code(directory, scripts):
    """One script: emscripten's function, the texts of sql/, and ours."""
    texts = "const SQL_FILES = " + json.dumps(sql_files(), ensure_ascii=False, indent=0) + ";\n"
    ours = "".join(pathlib.Path(script).read_text(encoding="utf-8") for script in scripts)
    return (directory / "module.js").read_text(encoding="utf-8") + "\n" + texts + ours


def in_html(text):
    """A script's text that does not end the element it stands in."""
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def page(directory, library):
    """The page: its own style and script, and what its worker is made of."""
    packed = base64.b64encode(gzip.compress((directory / "evalci.wasm").read_bytes(), 9, mtime=0)).decode()
    parts = {"style": (HERE / "page.css").read_text(encoding="utf-8"), "script": in_html((HERE / "page.js").read_text(encoding="utf-8")),
             "worker": in_html(library + (HERE / "worker.js").read_text(encoding="utf-8")), "wasm": packed}
    html = (HERE / "page.html").read_text(encoding="utf-8")
    for name, text in parts.items():
        mark = f"{{{{{name}}}}}"
        if html.count(mark) != 1:
            sys.exit(f"assemble.py: page.html must hold {mark} once")
        before, after = html.split(mark)
        html = before + text + after
    return html


def main(directory, *scripts):
    directory = pathlib.Path(directory)
    library = code(directory, scripts)
    (directory / "evalci.mjs").write_text(HEAD + library + EXPORTS, encoding="utf-8")
    if (HERE / "page.html").exists():
        html = page(directory, library).encode()
        if len(html) > MOST:
            sys.exit(f"assemble.py: the page has {len(html)} bytes, more than {MOST}")
        (directory / "evalci.html").write_bytes(html)


if __name__ == "__main__":
    main(*sys.argv[1:])
