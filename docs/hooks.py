"""Hooks of mkdocs: generated pages, tables of the JSON Schemas, and a check of all anchors."""

import json
import logging
import posixpath
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from mkdocs.structure.files import File

# What lies beside the pages and is no part of the book.
TOOLS = ("build", "hooks.py", "img/picture/")

log = logging.getLogger("mkdocs.hooks")
anchors, links = {}, []


class Page(HTMLParser):
    """Notes what can be linked to on a page, and its links."""

    def __init__(self, url):
        super().__init__()
        self.url = url
        anchors[url] = set()

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        anchors[self.url].update(filter(None, (found.get("id"), found.get("name"))))
        if tag == "a" and found.get("href"):
            links.append((self.url, found["href"]))


def on_config(config):
    folder = Path(config["docs_dir"], "commands")
    # Pages of subcommands, as results-list.md, are linked to from their command.
    names = sorted(page.name for page in folder.glob("*.md") if "-" not in page.name)
    names.sort(key=lambda name: name != "index.md")
    # `- Commands: commands/index.md`, wherever it stands.
    entries = list(config["nav"])
    for entry in entries:
        for title, value in entry.items():
            if isinstance(value, list):
                entries.extend(inner for inner in value if isinstance(inner, dict))
            elif value == "commands/index.md":
                entry[title] = [f"commands/{name}" for name in names]


# Reports of the results that are pages of the book.
REPORTS = ("seeds.md", "evaluations.md", "comparison-rybka.md")

# Where the book shows the keys of a schema.
KEYS = re.compile(r"\[Keys with their types and meanings\]\((schema/[a-z.]+\.json)\)")

# Where a page shows what games say of a program: its section of the table of claims.
CLAIMS = re.compile("<!-- claims (.+) -->")


def on_page_markdown(markdown, page, config, files):
    for name in REPORTS:
        markdown = markdown.replace(f"](../../results/{name}", f"](../{name}")
    if found := CLAIMS.search(markdown):
        seeds = Path(config["docs_dir"], "../results/seeds.md").read_text()
        section = seeds.split(f"\n## {found[1]}\n", 1)[1].split("\n## ", 1)[0]
        markdown = markdown.replace(found[0], section)
    return KEYS.sub(lambda found: found[0] + "\n\n" + keys(Path(config["docs_dir"], found[1])), markdown)


def keys(path):
    """A table of all keys of a schema."""
    schema = json.loads(path.read_text())
    table = "| key | value | |\n| --- | --- | --- |\n"
    for cells in rows(schema, schema.get("$defs", {}), ""):
        table += "| " + " | ".join(cell.replace("\n", " ").replace("|", "\\|") for cell in cells) + " |\n"
    return table


def rows(schema, defs, prefix):
    """Key, type and meaning of each member of an object, and of its parts."""
    members, required = schema.get("properties", {}), schema.get("required", [])
    # Those that are always there are listed in their order.
    for key in sorted(members, key=lambda key: (required.index(key) if key in required else len(required), key)):
        value, words, meaning = members[key], [], [members[key].get("description", "")]
        path, parts = prefix + key, [value]
        while parts:
            part = parts.pop(0)
            if "$ref" in part:
                part = defs[part["$ref"].split("/")[-1]]
            kinds = part.get("type", [])
            words += [kinds] if isinstance(kinds, str) else kinds
            inner = [part.get(name) for name in ("items", "additionalProperties")]
            parts += part.get("anyOf", []) + [schema for schema in inner if isinstance(schema, dict)]
            path += "[]" if "items" in part else ".*" if "additionalProperties" in part else ""
            names = [case for case in part.get("oneOf", []) if "const" in case]
            meaning += [f"`{case['const']}`: {case['description']}" for case in names]
            meaning += [f"`{name}`" for name in part.get("enum", [])]
            words += ["string"] * bool(names)
            value = part if "properties" in part else value
        meaning += [f"`{value.get('const')}`"] * ("const" in value) + ["*May be absent.*"] * (key not in required)
        kinds = [word for word in dict.fromkeys(words) if word != "null"] + ["or null"] * ("null" in words)
        yield f"`{path}`", " ".join(kinds).replace("array ", "list of "), " ".join(meaning)
        yield from rows(value, defs, path + ".")
    for case in schema.get("oneOf", []):
        tags = [f"`{key}` is `{value['const']}`" for key, value in case["properties"].items() if "const" in value]
        yield "", " ".join(tags), case["description"]
        own = {key: value for key, value in case["properties"].items() if "const" not in value}
        yield from rows({**case, "properties": own}, defs, prefix)


def on_files(files, config):
    for file in [file for file in files if file.src_path.startswith(TOOLS)]:
        files.remove(file)
    results = str(Path(config["docs_dir"], "../results"))
    for name in REPORTS:
        files.append(File(name, results, config["site_dir"], config["use_directory_urls"]))


def on_post_page(output, page, config):
    Page(page.url).feed(output)


def on_post_build(config):
    for url, link in links:
        parts = urlsplit(link)
        target = posixpath.normpath(posixpath.join(posixpath.dirname(url), parts.path or posixpath.basename(url)))
        if parts.scheme or not parts.fragment:
            continue
        if unquote(parts.fragment) not in anchors.get(target, ()):
            log.warning("%s links to %s, and there is no such place", url, link)
