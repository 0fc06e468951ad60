"""The library products of the package and the declarations of their modules."""

import json
import pathlib
import re
import subprocess

TYPES = {"swift.actor", "swift.class", "swift.enum", "swift.protocol", "swift.struct", "swift.typealias"}
SYMBOL_LINK = re.compile(r"(?<!`)``([^`]+)``(?!`)")


class Package:
    """The modules of the library products, in the order of the package description."""

    def __init__(self, root, swift):
        command = [*swift, "package", "--enable-all-traits", "describe", "--type", "json"]
        description = json.loads(subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE).stdout)
        targets = {target["name"]: target for target in description["targets"]}
        products = [product for product in description["products"] if "library" in product["type"]]
        self.modules = [target for product in products for target in product["targets"]]
        self.folders = {pathlib.Path(targets[module]["path"]): module for module in self.modules}

    def module_in(self, folder):
        """Returns the module whose sources are in this folder."""
        return self.folders.get(folder)


class Symbols:
    """The declarations of the modules, from their symbol graphs."""

    def __init__(self, package, folder):
        self.modules = package.modules
        self.module_in = package.module_in
        self.graphs = {module: self._load(folder, module) for module in self.modules}
        self.homes = {}
        self.members = {}
        for module, graphs in self.graphs.items():
            for symbol in graphs.get(f"{module}.symbols.json", {"symbols": []})["symbols"]:
                path = symbol["pathComponents"]
                if symbol["kind"]["identifier"] in TYPES and len(path) == 1:
                    self.homes.setdefault(path[0], []).append(module)
                self.members.setdefault(".".join(path), []).append((module, "/".join(path)))

    @staticmethod
    def _load(folder, module):
        files = [folder / f"{module}.symbols.json", *folder.glob(f"{module}@*.symbols.json")]
        return {file.name: json.loads(file.read_text(encoding="utf-8")) for file in files if file.exists()}

    def home(self, name):
        """Returns the module with a type of this name, if it's unique."""
        homes = self.homes.get(name, [])
        return homes[0] if len(homes) == 1 else None

    def link(self, code):
        """Returns a link to the module, type or member with this name, or None."""
        if code in self.modules:
            return f"``/{code}``"
        name, dot, _ = code.partition(".")
        home = self.home(name)
        if not home:
            return None
        if not dot:
            return f"``/{home}/{code}``"
        paths = self.members.get(code, [])
        return f"[`{code}`](doc:/{home}/{paths[0][1]})" if len(paths) == 1 and paths[0][0] == home else None

    def extensions(self, module):
        """Returns what other modules add to the types of a module: for each type, the names of the members by module."""
        types = {}
        for other, graphs in self.graphs.items():
            for symbol in graphs.get(f"{other}@{module}.symbols.json", {"symbols": []})["symbols"]:
                kind, path = symbol["kind"]["identifier"], symbol["pathComponents"]
                if kind != "swift.extension" and len(path) == 2:
                    names = types.setdefault(path[0], {}).setdefault(other, [])
                    if base(path[1]) not in names:
                        names.append(base(path[1]))
        return types

    def write(self, module, folder):
        """Writes a module's graphs. Adds the module name, which DocC requires, to links to declarations of other modules and to this
        module's extensions of their types."""
        folder.mkdir(parents=True)
        own = set()
        added = {}
        for name, graph in self.graphs[module].items():
            for symbol in graph["symbols"]:
                if symbol["kind"]["identifier"] != "swift.extension":
                    path = symbol["pathComponents"]
                    own.add(base(path[-1]))
                    if "@" in name:
                        added["/".join(path)] = name.split("@")[1].split(".")[0]
        for name, graph in self.graphs[module].items():
            for symbol in graph["symbols"]:
                for line in symbol.get("docComment", {}).get("lines", []):
                    line["text"] = SYMBOL_LINK.sub(
                        lambda match: f"``{self._qualified(match[1], module, own, added)}``", line["text"])
            (folder / name).write_text(json.dumps(graph))

    def _qualified(self, link, module, own, added):
        first, _, rest = link.partition("/")
        named = first in self.modules
        home = first if named else self.home(base(first))
        path = rest if named else link
        if path in added:
            return f"{added[path]}/{path}"
        if home in (None, module) or (not named and base(first) in own):
            return link
        return f"/{home}/{path}".rstrip("/")


def base(component):
    """Returns a component of a symbol's path without its labels and DocC's disambiguation suffix."""
    return component.partition("(")[0].partition("-swift.")[0]
