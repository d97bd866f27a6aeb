"""Draws wall time by number of users as SVG: a panel for each scenario, a line for each program, logarithmic axes."""
from math import ceil, floor, log10

import targets

COLOURS = {
    "sync": "#d9480f", "grdb-upsert": "#1c7ed6", "grdb-compare": "#7048e8", "orjson": "#2f9e44",
    "sqlite-utils": "#868e96", "dlt": "#c2255c"}
NAMES = {
    "sync": "syncdb import", "grdb-upsert": "GRDB + Codable, upsert", "grdb-compare": "GRDB + Codable, compare",
    "orjson": "orjson + sqlite3 by hand", "sqlite-utils": "sqlite-utils", "dlt": "dlt"}
WIDTH, HEIGHT, LEFT, TOP, GAP = 250, 240, 52, 34, 24
STYLE = """text { font: 12px system-ui, sans-serif; fill: #343a40 } .small { font-size: 11px; fill: #868e96 }
.grid { stroke: #868e96; stroke-opacity: .3 } .line { fill: none; stroke-width: 2 } .sync { stroke-width: 3.5 }
@media (prefers-color-scheme: dark) { text { fill: #e9ecef } .small { fill: #adb5bd } }"""


def svg(found):
    lines = {scenario: series(found, scenario) for scenario in targets.SCENARIOS}
    points = [point for by_tool in lines.values() for line in by_tool.values() for point in line]
    if not points:
        return '<svg xmlns="http://www.w3.org/2000/svg"/>\n'
    x, y = Axis([p[0] for p in points], WIDTH), Axis([p[1] for p in points], HEIGHT)
    width = LEFT + len(lines) * (WIDTH + GAP)
    names = [name for name in COLOURS if any(name in by_tool for by_tool in lines.values())]
    height = TOP + HEIGHT + 50 + 20 * ceil(len(names) / 3)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        f"<style>{STYLE}</style>"]
    for index, (scenario, by_tool) in enumerate(lines.items()):
        parts += panel(targets.SCENARIOS[scenario], by_tool, x, y, LEFT + index * (WIDTH + GAP), index == 0)
    parts += legend(names)
    return "\n".join(parts) + "\n</svg>\n"


def series(found, scenario):
    """Returns name → [(size, seconds)]."""
    lines = {}
    for result in found:
        measured = targets.values(result).get(scenario)
        if result["workload"] == "users" and measured:
            for name, (wall, _, _) in measured["medians"].items():
                if name in COLOURS:
                    lines.setdefault(name, []).append((result["size"], wall))
    return lines


class Axis:
    """A logarithmic axis between powers of ten."""

    def __init__(self, values, length):
        self.first = floor(log10(min(values)) + 1e-9)
        self.last = max(self.first + 1, ceil(log10(max(values)) - 1e-9))
        self.length = length

    def place(self, value):
        return (log10(value) - self.first) / (self.last - self.first) * self.length

    def ticks(self):
        return [10.0**power for power in range(self.first, self.last + 1)]


def panel(title, by_tool, x, y, left, has_labels):
    bottom = TOP + HEIGHT
    yield f'<text x="{left}" y="{TOP - 14}" font-weight="bold">{title}</text>'
    for value in y.ticks():
        at = bottom - y.place(value)
        yield f'<path class="grid" d="M{left} {at:.1f}h{WIDTH}"/>'
        if has_labels:
            yield f'<text class="small" x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{value:g} s</text>'
    for value in x.ticks():
        at = left + x.place(value)
        yield f'<path class="grid" d="M{at:.1f} {TOP}v{HEIGHT}"/>'
        anchor = "start" if value == x.ticks()[0] else "end" if value == x.ticks()[-1] else "middle"
        yield f'<text class="small" x="{at:.1f}" y="{bottom + 16}" text-anchor="{anchor}">{short(value)}</text>'
    for name, line in sorted(by_tool.items(), key=lambda item: item[0] == "sync"):
        points = [(left + x.place(size), bottom - y.place(wall)) for size, wall in line]
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
        yield f'<path class="line{" sync" if name == "sync" else ""}" stroke="{COLOURS[name]}" d="M{path}"/>'
        for a, b in points:
            yield f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{COLOURS[name]}"/>'


def short(value):
    return f"{value / 1e6:g}M users" if value >= 1e6 else f"{value / 1e3:g}k" if value >= 1e3 else f"{value:g}"


def legend(names):
    for index, name in enumerate(names):
        x, y = LEFT + index % 3 * (WIDTH + GAP), TOP + HEIGHT + 42 + index // 3 * 20
        yield f'<path class="line{" sync" if name == "sync" else ""}" stroke="{COLOURS[name]}" d="M{x} {y}h22"/>'
        yield f'<text x="{x + 30}" y="{y + 4}">{NAMES[name]}</text>'
