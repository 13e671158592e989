"""Reads catalogue.txt, the list of every function."""
import pathlib
import re
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE / "catalogue.sql"


@dataclass
class Function:
    name: str
    kind: str  # a, s or t
    result: str
    cost: float
    arguments: list  # names, of all that may be given
    arities: list

    def call(self, arity, examples):
        return f"{self.name}({', '.join(examples[name] for name in self.arguments[:arity])})"


def read():
    """([Function], {argument: its example})"""
    functions, examples = [], {}
    for line in (HERE / "catalogue.txt").read_text().splitlines():
        if line.startswith("argument "):
            _, name, _, examples[name] = line.split(None, 3)
        elif line.startswith("function "):
            _, kind, result, cost, *_, signature = line.split(None, 8)
            name, inside = re.fullmatch(r"(\w+)\((.*)\)", signature).groups()
            parts = [re.findall(r"\w+", part) for part in inside.split("[")]
            arities = [sum(map(len, parts[:i + 1])) for i in range(len(parts))]
            functions.append(Function(name, kind, result, float(cost), sum(parts, []), arities))
    return functions, examples
