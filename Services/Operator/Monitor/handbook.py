#!/usr/bin/env python3
"""Makes the page of the handbook, which the monitor serves, from Services/HANDBOOK.md: handbook.py [--check]

With --check it writes nothing; exit code 1 if the page is not the handbook's. It knows what the handbook is written in:
headings, paragraphs, code, bold, and links, of which those to other documents are shown as text."""

import html
import pathlib
import re
import sys

MONITOR = pathlib.Path(__file__).resolve().parent
HANDBOOK = MONITOR.parents[1] / "HANDBOOK.md"
PAGE = MONITOR / "web" / "handbook.html"
HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>TouchSync handbook</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/monitor.css">
<header class="bar">
  <span class="brand">TouchSync</span>
  <a href="/">Pipeline</a>
</header>
<main class="handbook">
"""


def inline(text):
    """The text of a paragraph or heading: code stays as it is, the rest may have links and bold words."""
    parts = re.split(r"`([^`]+)`", text)
    parts[::2] = [re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", html.escape(part, quote=False)) for part in parts[::2]]
    parts[1::2] = [f"<code>{html.escape(part, quote=False)}</code>" for part in parts[1::2]]
    return re.sub(r"\[([^\]]+)\]\((\S+?)\)", link, "".join(parts))


def link(found):
    text, target = found.groups()
    return f'<a href="{target}">{text}</a>' if target.startswith("#") else text


def block(text):
    """A heading, a paragraph, or code between fences."""
    if heading := re.fullmatch(r"(#{1,2}) (.+)", text):
        level, title = len(heading[1]), heading[2]
        anchor = f' id="{title.lower().replace(" ", "-")}"' if level == 2 else ""
        return f"<h{level}{anchor}>{inline(title)}</h{level}>"
    if code := re.fullmatch(r"```\w*\n(.*)\n```", text, re.DOTALL):
        return f"<pre><code>{html.escape(code[1], quote=False)}</code></pre>"
    return f"<p>{inline(text)}</p>"


def page():
    blocks = re.split(r"\n\n+", HANDBOOK.read_text().strip())
    return HEAD + "\n".join(map(block, blocks)) + "\n</main>\n</html>\n"


if sys.argv[1:] == ["--check"]:
    sys.exit(PAGE.read_text() != page())
PAGE.write_text(page())
