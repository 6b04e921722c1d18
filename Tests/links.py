#!/usr/bin/env python3
"""Prints every link between our pages whose file or heading is not there, and every path of a source that is not there; exit
code 1 if there is any."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?\s*\)")
# A source by its path from the top, such as `Shared/Wire/Update.swift`.
SOURCE = re.compile(r"`((?:Services|Shared|Tests|deploy)/[\w./+-]+\.[a-z]+)`")


def prose(page):
    """A page without its blocks of code and code in lines."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", lambda code: re.sub(r"[\[\]()]", "", code[0]), text)


def anchors(page):
    """The anchors of a page's headings, as hosts of repositories make them."""
    found = {}
    for heading in re.findall(r"^#+ +(.*?)\s*$", prose(page), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        number = found.get(anchor, -1) + 1
        found[anchor] = number
        if number:
            found[f"{anchor}-{number}"] = 0
    return found


def main():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    pages = [ROOT / name for name in listed if (ROOT / name).exists()]
    bad = 0
    for page in pages:
        for target in LINK.findall(prose(page)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (page.parent / name).resolve() if name else page
            if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file)):
                print(f"{page.relative_to(ROOT)}: {target}")
                bad += 1
        for path in SOURCE.findall(page.read_text()):
            if page.name != "CHANGELOG.md" and not (ROOT / path).exists():
                print(f"{page.relative_to(ROOT)}: {path}")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
