#!/usr/bin/python3
"""Assembles emscripten's output, the files of sql/ and those of ext/page:

    assemble.py DIRECTORY SCRIPT...

It writes evalci.mjs, the module for Node and for other pages, and, if ext/page has the parts
of a page, evalci.html, a page with everything inside.  page.html has each of these once:

    {{style}}        page.css
    {{script}}       page.js, the whole of a <script>; {{script_hash}} is for its policy
    {{worker}}       the source of its worker: all of evalci.mjs but its exports, so that
                     loadEvalci({ wasm, progress }) is load(), followed by worker.js
    {{wasm}}         evalci.wasm, compressed by gzip and in base64
"""
import base64
import gzip
import hashlib
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = ROOT / "ext/page"
MOST = 3_000_000

EXPORTS = """
globalThis.crypto ??= (await ofNode("crypto")).webcrypto; // where Node 18 has it
export const load = (options = {}) => loadEvalci({ wasm: new URL("evalci.wasm", import.meta.url), ...options });
"""


def read(name):
    return (HERE / name).read_text(encoding="utf-8")


def sql_files():
    home = ROOT / "sql"
    return {path.relative_to(home).as_posix(): path.read_text(encoding="utf-8") for path in sorted(home.rglob("*.sql"))}


def code(directory, scripts):
    """One script: emscripten's function, the texts of sql/, and ours."""
    texts = "const SQL_FILES = " + json.dumps(sql_files(), ensure_ascii=False, indent=0) + ";\n"
    ours = "".join(pathlib.Path(script).read_text(encoding="utf-8") for script in scripts)
    return read("notices.txt") + (directory / "module.js").read_text(encoding="utf-8") + "\n" + texts + ours


def in_html(text):
    """A script's text that does not end the element it stands in."""
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def page(directory, library):
    """The page: its own style and script, and what its worker is made of."""
    script = in_html(read("page.js"))
    parts = {"style": read("page.css"), "script": script,
             "script_hash": "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
             "worker": in_html(library + read("worker.js")),
             "wasm": base64.b64encode(gzip.compress((directory / "evalci.wasm").read_bytes(), 9, mtime=0)).decode()}
    html = read("page.html")
    found = re.findall(r"{{(\w+)}}", html)
    if sorted(found) != sorted(parts):
        sys.exit(f"assemble.py: page.html must hold each of {', '.join(parts)} once, not {', '.join(found)}")
    return re.sub(r"{{(\w+)}}", lambda mark: parts[mark.group(1)], html)


def main(directory, *scripts):
    directory = pathlib.Path(directory)
    library = code(directory, scripts)
    (directory / "evalci.mjs").write_text(read("api.txt") + library + EXPORTS, encoding="utf-8")
    if (HERE / "page.html").exists():
        html = page(directory, library).encode()
        if len(html) > MOST:
            sys.exit(f"assemble.py: the page has {len(html)} bytes, more than {MOST}")
        (directory / "evalci.html").write_bytes(html)


if __name__ == "__main__":
    main(*sys.argv[1:])
