"""Line charts as SVG with logarithmic axes, light and dark."""

import html
import math

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 56, 44
COLOURS = ("#2f6fde", "#c2553a", "#2e8b57", "#8a5cc2")
STYLE = """\
text { font: 12px system-ui, sans-serif; fill: #333 } .title { font-weight: 600; font-size: 14px }
.grid { stroke: #ddd } .axis { stroke: #888 }
@media (prefers-color-scheme: dark) { text { fill: #ccc } .grid { stroke: #3a3a3a } }"""


def chart(title, across, lines):
    """A chart as text.

    - lines: the points (x, y) of each line by its name, all above zero.
    """
    points = [point for line in lines.values() for point in line]
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    marks = scale(min(y for _, y in points), max(y for _, y in points))

    def place(x, y):
        return (
            LEFT + share(x, left, right) * (WIDTH - LEFT - RIGHT),
            HEIGHT - BOTTOM - share(y, marks[0], marks[-1]) * (HEIGHT - TOP - BOTTOM),
        )

    parts = [text(LEFT, 18, title, "title"), text(WIDTH - RIGHT, HEIGHT - 8, across, anchor="end")]
    for mark in marks:
        _, y = place(left, mark)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(text(LEFT - 6, y + 4, f"{mark:g}", anchor="end"))
    for x in sorted({x for x, _ in points}):
        where, _ = place(x, marks[0])
        parts.append(f'<path class="axis" d="M{where:.1f} {HEIGHT - BOTTOM}v4"/>')
        parts.append(text(where, HEIGHT - BOTTOM + 18, f"{x:,}", anchor="middle"))
    before = LEFT
    for (name, line), colour in zip(lines.items(), COLOURS):
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in sorted(line)))
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{places}"/>')
        parts.append(f'<path stroke="{colour}" stroke-width="3" d="M{before} 31h14"/>')
        parts.append(text(before + 20, 35, name))
        before += 40 + 7 * len(name)
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{html.escape(title)}">\n<style>{STYLE}</style>\n{body}\n</svg>\n'
    )


def share(value, low, high):
    """Where a value lies between two others, 0 to 1."""
    return math.log(value / low) / math.log(high / low)


def scale(lowest, highest):
    """The marks of an axis: 1, 2, 5, 10 and so on, around all values."""
    first = math.floor(math.log10(lowest))
    marks = [10**power * factor for power in range(first, first + 12) for factor in (1, 2, 5)]
    low = max(mark for mark in marks if mark <= lowest)
    return [mark for mark in marks if low <= mark <= next(end for end in marks if end > highest)]


def text(x, y, words, kind="", anchor="start"):
    kind = f' class="{kind}"' if kind else ""
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(words)}</text>'
