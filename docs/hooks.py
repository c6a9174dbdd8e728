"""Hooks of mkdocs: the generated pages in the navigation, and a check of all anchors."""

import logging
import posixpath
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

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


def on_files(files, config):
    for file in [file for file in files if file.src_path.startswith(TOOLS)]:
        files.remove(file)


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
