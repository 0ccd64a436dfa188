"""What the site needs beside the pages: files of the repository that pages link to, and the menu.

Hooks of mkdocs. A link to a Markdown file beside ``docs/`` leads to a copy of it in the site; one to a source file becomes its path in code
font, as the site has no sources.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
#: Markdown files of the repository that are pages of the site, by their path there.
BESIDE = {
    "ARCHITECTURE.md": "repository/architecture.md",
    "CONTRIBUTING.md": "repository/contributing.md",
    "CHANGELOG.md": "repository/changelog.md",
    "examples/programs/README.md": "repository/example-programs.md",
}
#: The menu: words for folders, in the order of a reader's way through them.
SECTIONS = {
    "gallery": "Gallery",
    "how-to": "How to",
    "studies": "Published studies",
    "models": "Models",
    "formats": "Formats of traces",
    "reference": "Reference",
    "extending": "Extending",
    "adr": "Decisions",
}
#: Pages that stand first.
FIRST = ("README.md", "tutorial.md", "glossary.md", "validation.md")
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Add the pages that lie beside ``docs/``."""
    for source, name in BESIDE.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text()))
    return files


def on_nav(nav: Any, config: MkDocsConfig, files: Files, **_: Any) -> Any:
    """Give folders their words and their order."""
    for section in [item for item in nav.items if item.is_section]:
        folder = next((Path(page.file.src_uri).parts[0] for page in section.children if page.is_page), "")
        section.title = SECTIONS.get(folder, section.title)
    sections = list(SECTIONS.values())

    def place(item: Any) -> tuple[int, int]:
        if item.is_section:
            return 1, sections.index(item.title) if item.title in sections else len(sections)
        return 0, FIRST.index(item.file.src_uri) if item.file.src_uri in FIRST else len(FIRST)

    nav.items.sort(key=place)
    return nav


def on_page_markdown(markdown: str, page: Page, files: Files, **_: Any) -> str:
    """Turn links that leave ``docs/``."""
    here = {target: source for source, target in BESIDE.items()}.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def turned(match: re.Match[str]) -> str:
        words, link = match.groups()
        target, _, anchor = link.partition("#")
        if not target or "://" in target or target.startswith("mailto:"):
            return match.group(0)
        path = posixpath.normpath(posixpath.join(posixpath.dirname(here), target))
        if not (ROOT / path).exists():
            return match.group(0)  # what is wrong is told by mkdocs
        place = BESIDE.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else None)
        if place is None:
            return f"{words} (`{path}`)" if words.strip("`") not in (path, Path(path).name) else f"`{path}`"
        if (ROOT / path).is_dir():
            place = f"{place}/README.md"
        relative = posixpath.relpath(place, posixpath.dirname(page.file.src_uri) or ".")
        return f"[{words}]({relative}{'#' + anchor if anchor else ''})"

    kept = []
    end = 0
    for fence in _FENCE.finditer(markdown):
        kept += [_LINK.sub(turned, markdown[end : fence.start()]), fence.group(0)]
        end = fence.end()
    return "".join([*kept, _LINK.sub(turned, markdown[end:])])
