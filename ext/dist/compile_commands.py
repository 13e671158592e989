#!/usr/bin/python3
"""Writes compile_commands.json, which tells clangd and similar tools how each C file is compiled.

    make -nB TARGET... | compile_commands.py >build/compile_commands.json

For each file, it takes the first command of make that compiles it, up to its -o.
"""
import json
import os
import shlex
import sys

commands = {}
for line in sys.stdin:
    before, found, after = line.partition(" -o ")
    source = next((word for word in after.split() if word.endswith(".c")), None) if found else None
    if source and source not in commands:
        flags = [word for word in shlex.split(before) if word not in ("-c", "-MMD", "-MP")]
        commands[source] = {"directory": os.getcwd(), "file": source, "arguments": [*flags, "-c", source]}
json.dump(list(commands.values()), sys.stdout, indent=1)
print()
