"""Converts the guides to articles of a documentation catalog. The Markdown stays the same except for links, which become the site's."""

import os
import pathlib
import re
import unicodedata

CATALOG = "Guides"
PLUGINS = pathlib.Path("Plugins/README.md")
CHANGELOG = pathlib.Path("CHANGELOG.md")
FENCE = re.compile(r"^\s*```")
LINK = re.compile(r"(!?)\[((?:`[^`]*`|[^\[\]`])*)\]\(([^)\s]+)\)")
GROUP = re.compile(r"\*\*(.+?):\*\*")
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


class Faults(Exception):
    """The errors in the pages, one per line."""


class Guide:
    """A Markdown page."""

    def __init__(self, root, path, name):
        self.path = path
        self.name = name
        self.lines = (root / path).read_text(encoding="utf-8").splitlines()
        if not self.lines or not self.lines[0].startswith("# "):
            raise Faults(f"{path}:1: a page must begin with its title after a single #")
        self.title = self.lines[0][2:].strip()

    def headings(self):
        """Yields the level and text of each heading below the title."""
        fenced = False
        for line in self.lines[1:]:
            if FENCE.match(line):
                fenced = not fenced
            elif not fenced and (match := re.match(r"(#{2,6}) +(.*)", line)):
                yield len(match[1]), match[2].strip()

    def section(self, heading):
        """Returns the lines below a second-level heading."""
        start = self.lines.index(f"## {heading}") + 1
        end = next((i for i in range(start, len(self.lines)) if self.lines[i].startswith("## ")), len(self.lines))
        return self.lines[start:end]

    def rows(self, column):
        """Returns the rows of all tables with this column as lists of cells, without the table headers."""
        rows, previous, isWanted = [], "", False
        for line in self.lines:
            if line.startswith("|") and not previous.startswith("|"):
                isWanted = column in cells(line)
            elif line.startswith("|") and isWanted and not line.startswith("| ---"):
                rows.append(cells(line))
            previous = line
        if not rows:
            raise Faults(f"{self.path}: no table has the column {column}")
        return rows


class Guides:
    """All pages: README.md, followed by the pages in its list 'Documentation', in that order. An item such as "**Use:** [A](A.md)" is a
    group with this title."""

    def __init__(self, root):
        self.root = root
        paths = [PLUGINS, CHANGELOG]
        paths += sorted(path.relative_to(root) for path in (root / "Docs").glob("*.md"))
        names = {path: path.stem for path in paths} | {PLUGINS: "Plugins", CHANGELOG: "Changelog"}
        self.entry = Guide(root, pathlib.Path("README.md"), CATALOG)
        self.summaries = {}
        order = []
        groups = {}
        for item in self._items(self.entry.section("Documentation")):
            targets = [pathlib.Path(match[3].split("#")[0]) for match in LINK.finditer(item)]
            targets = [target for target in targets if target in names and target not in order]
            order += targets
            title = GROUP.match(item)
            groups.setdefault(title[1] if title else "Guides", []).extend(targets)
            match = re.fullmatch(r"\[[^\]]*\]\([^)]*\): (.+)", item)
            if match and targets:
                self.summaries[targets[0]] = plain_links(match[1][0].upper() + match[1][1:])
        missing = [f"README.md: 'Documentation' does not name {path}" for path in paths if path not in order]
        if missing:
            raise Faults("\n".join(missing))
        self.guides = [Guide(root, path, names[path]) for path in order]
        self.groups = {title: [names[path] for path in paths] for title, paths in groups.items() if paths}
        self.by_path = {guide.path: guide for guide in [self.entry, *self.guides]}
        self.repository = self._repository()

    @staticmethod
    def _items(lines):
        items = []
        for line in lines:
            if line.startswith("- "):
                items.append(line[2:].strip())
            elif line.startswith("  ") and items:
                items[-1] += " " + line.strip()
        return items

    def _repository(self):
        """Returns the URL of the repository from the package dependency in README.md."""
        for line in self.entry.lines:
            if match := re.search(r'\.package\(url: "([^"]+)"', line):
                return match[1]
        raise Faults("README.md: the package dependency is missing")

    def using(self, module):
        """Returns the guide with a heading "AfarCSV" or "Disk cache (AfarDiskCache)" for this module, or None."""
        for guide in self.guides:
            if any(heading == module or heading.endswith(f"({module})") for _, heading in guide.headings()):
                return guide
        return None

    def product_lines(self):
        """Returns the purpose and the dependencies of each product, from the tables in README.md and the plug-ins' guide. A row can name
        several products. A row of a single product takes precedence."""
        lines = {}
        for guide in (self.by_path[PLUGINS], self.entry):
            for name, purpose, brings in guide.rows("What it brings"):
                products = plain(name).split(", ")
                for product in products:
                    if len(products) == 1 or product not in lines:
                        lines[product] = (plain_links(purpose), plain_links(brings))
        return lines

    def write(self, folder, symbols):
        """Writes the catalog. `symbols` contains the modules and their declarations."""
        folder.mkdir(parents=True)
        faults = []
        for guide in self.by_path.values():
            article = Article(self, guide, symbols, folder)
            (folder / f"{guide.name}.md").write_text(article.text(), encoding="utf-8")
            faults += article.faults
        if faults:
            raise Faults("\n".join(faults))


class Article:
    """Converts a guide to a DocC article."""

    def __init__(self, guides, guide, symbols, folder):
        self.guides = guides
        self.guide = guide
        self.symbols = symbols
        self.folder = folder
        self.faults = []

    def text(self):
        title, *body = self._body()
        if self.guide is self.guides.entry:
            topics = ["", "## Topics"]
            for group, names in self.guides.groups.items():
                topics += ["", f"### {group}", "", *(f"- <doc:{name}>" for name in names)]
            topics += ["", "### Products", "", *(f"- <doc:/{module}>" for module in self.symbols.modules)]
            return "\n".join([title, "", *metadata("TechnologyRoot"), *body, *topics]) + "\n"
        summary = self.guides.summaries.get(self.guide.path)
        opening = "\n".join(body).strip().partition("\n\n")[0]
        # DocC uses the first paragraph as a summary, in which it drops links to the web.
        if not opening.startswith("#") and (summary or "](http" in opening):
            body = ["", "## Overview", *body]
        if summary:
            body = ["", self._inline(summary), *body]
        return "\n".join([title, "", *metadata('TitleHeading("Guide")'), *body]) + "\n"

    def _body(self):
        """Returns the lines with the site's links. Omits the entry page's list, which becomes its topics."""
        body = []
        prose = []
        fenced = False
        skipped = False
        for number, line in enumerate([*self.guide.lines, ""], 1):
            fence = FENCE.match(line)
            if not fenced and line.startswith("## "):
                skipped = self.guide is self.guides.entry and line == "## Documentation"
            if skipped:
                continue
            if not (fenced or fence or line.startswith("#") or not line):
                prose.append(line)
                continue
            if prose:
                body += self._inline("\n".join(prose), number - len(prose)).split("\n")
                prose = []
            if fence:
                fenced = not fenced
            body.append(line)
        return body[:-1]

    def _inline(self, text, number=0):
        """Converts the links in prose that begins on this line, and turns symbol names in code voice into links."""
        parts = []
        position = 0
        for match in LINK.finditer(text):
            if text[:match.start()].count("`") % 2:
                continue
            line = number + text[:match.start()].count("\n")
            parts += [self._spans(text[position:match.start()]), self._link(match, line)]
            position = match.end()
        return "".join(parts) + self._spans(text[position:])

    def _spans(self, text):
        return SPAN.sub(lambda match: self.symbols.link(match[1]) or match[0], text)

    def _link(self, match, number):
        mark, text, target = match.groups()
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        path, _, anchor = target.partition("#")
        file = pathlib.Path(os.path.normpath(self.guide.path.parent / path)) if path else self.guide.path
        source = self.guides.root / file
        if file.parts[0] == ".." or not source.exists():
            self.faults.append(f"{self.guide.path}:{number}: there is no {target}")
            return text
        if mark:
            (self.folder / source.name).write_bytes(source.read_bytes())
            return f"![{text}]({source.name})"
        if file in self.guides.by_path:
            return self._guide_link(text, self.guides.by_path[file], anchor, number)
        if module := self.symbols.module_in(file):
            return f"[{text}](doc:/{module})"
        kind = "tree" if source.is_dir() else "blob"
        return f"[{text}]({self.guides.repository}/{kind}/main/{file.as_posix()})"

    def _guide_link(self, text, guide, anchor, number):
        # DocC can't find headings of the entry page by its name alone.
        name = f"/documentation/{CATALOG}" if guide is self.guides.entry else guide.name
        if not anchor:
            return f"[{text}](doc:{name})"
        for _, heading in guide.headings():
            if web_anchor(heading) == anchor:
                return f"[{text}](doc:{name}#{docc_anchor(heading)})"
        if anchor == web_anchor(guide.title):
            return f"[{text}](doc:{name})"
        self.faults.append(f"{self.guide.path}:{number}: {guide.path} has no heading #{anchor}")
        return text


def metadata(*directives):
    return ["@Metadata {", *(f"    @{directive}" for directive in directives), "}"]


def cells(row):
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def plain_links(text):
    """Returns the text with links replaced by their words."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def plain(heading):
    """Returns the text of a heading without markup."""
    return plain_links(heading).replace("`", "").replace("*", "")


def web_anchor(heading):
    """Returns the anchor of a heading on the repository's web pages."""
    kept = [c for c in plain(heading).lower() if c in " -_" or unicodedata.category(c)[0] in "LN"]
    return "".join(kept).replace(" ", "-")


def docc_anchor(heading):
    """Returns the anchor of a heading in DocC."""
    return re.sub(r"\s+", "-", plain(heading))
