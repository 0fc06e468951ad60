"""Checks that the page and the anchor of every internal link of the DocC site exist."""

import json
import re
import urllib.parse

RESOURCE = re.compile(r'\b(?:href|src)="([^"]*)"')


class Links:
    """The result of checking a site: the number of its links, and a line for each broken one."""

    def __init__(self, site, base):
        self.site = site
        self.base = base.rstrip("/")
        self.faults = []
        self.count = 0
        self.external = 0
        self.pages = {}
        for file in sorted((site / "data").rglob("*.json")):
            path = "/" + file.relative_to(site / "data").with_suffix("").as_posix()
            self.pages[path] = json.loads(file.read_text(encoding="utf-8"))
        self.anchors = {path: set(anchors(page)) for path, page in self.pages.items()}
        for path, page in self.pages.items():
            self._check_page(path, page)
        self._check_index()
        self._check_html()

    def _check_page(self, path, page):
        if not (self.site / path.lstrip("/") / "index.html").exists():
            self.faults.append(f"{path}: it has no index.html")
        references = page.get("references", {})
        for identifier in sorted(identifiers(page)):
            if identifier not in references:
                self.faults.append(f"{path}: it refers to {identifier}, which it does not know")
        for identifier, reference in references.items():
            if reference.get("type") == "image":
                for variant in reference["variants"]:
                    self._check_file(path, variant["url"])
            elif "url" in reference:
                self._check_target(path, reference["url"])

    def _check_target(self, path, target):
        if re.match(r"[a-z]+:", target):
            self.external += 1
            return
        self.count += 1
        page, _, anchor = target.partition("#")
        page = urllib.parse.unquote(page).rstrip("/") or path
        if page not in self.pages:
            self.faults.append(f"{path}: there is no page {target}")
        elif anchor and urllib.parse.unquote(anchor) not in self.anchors[page]:
            self.faults.append(f"{path}: there is no place {target}")

    def _check_file(self, path, target):
        self.count += 1
        if not (self.site / urllib.parse.unquote(target.removeprefix(self.base)).lstrip("/")).is_file():
            self.faults.append(f"{path}: there is no file {target}")

    def _check_index(self):
        index = json.loads((self.site / "index/index.json").read_text(encoding="utf-8"))
        nodes = [node for language in index["interfaceLanguages"].values() for node in language]
        while nodes:
            node = nodes.pop()
            nodes += node.get("children", [])
            if "path" in node:
                self._check_target("index/index.json", node["path"])

    def _check_html(self):
        """Checks the resources of the HTML pages. Most are the same, and each is checked once."""
        known = set()
        for file in sorted(self.site.rglob("*.html")):
            path = "/" + file.relative_to(self.site).as_posix()
            for target in RESOURCE.findall(file.read_text(encoding="utf-8")):
                if target in known or re.match(r"[a-z]+:", target):
                    continue
                known.add(target)
                if not target.startswith(f"{self.base}/"):
                    self.faults.append(f"{path}: {target} is not below {self.base}/")
                inside = target.removeprefix(self.base)
                self._check_file(path, inside + "index.html" if inside.endswith("/") else inside)


def identifiers(value):
    """Yields all references in a page."""
    if isinstance(value, dict):
        if value.get("type") in ("reference", "link") and value.get("isActive", True) and "identifier" in value:
            yield value["identifier"]
        for key, part in value.items():
            if key == "identifiers":
                yield from part
            elif key != "references":
                yield from identifiers(part)
    elif isinstance(value, list):
        for part in value:
            yield from identifiers(part)


def anchors(value):
    """Yields the anchors of a page."""
    if isinstance(value, dict):
        if "anchor" in value:
            yield value["anchor"]
        if value.get("kind") in ("declarations", "parameters"):
            yield value["kind"]
        for key, part in value.items():
            if key != "references":
                yield from anchors(part)
    elif isinstance(value, list):
        for part in value:
            yield from anchors(part)
