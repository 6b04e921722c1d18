"""Commands and settings of pages, as they stand there."""

import re
import textwrap


def section(page, heading):
    """The text of a section of the second level, up to the next one; `page` is a path."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page.read_text(), re.MULTILINE | re.DOTALL)
    assert found, f"{page} has no section {heading}"
    return found[1]


def blocks(page, heading, language="bash"):
    """The fenced blocks of a section in that language, also those in lists."""
    fence = re.compile(rf"^( *)```{language}\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(found[2]) for found in fence.finditer(section(page, heading))]
