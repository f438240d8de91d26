#!/usr/bin/env python3
"""Draw the comparison: one group of bars per shape and backbone, time per epoch on a logarithmic scale.

    python3 bench/chart.py docs/results/engine.json docs/results/engine.svg
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from xml.sax.saxutils import escape

ENGINES = (  # field of a row, label, colour (readable on light and dark pages)
    ("edgepace", "edgepace", "#0f9d74"),
    ("csr", "torch CSR, tuned by hand", "#d08c1d"),
    ("edge_index", "PyTorch Geometric", "#8a8fa3"),
)
WIDTH, LEFT, RIGHT, BAR, GAP, TOP = 860, 130, 150, 15, 16, 56
TEXT = 'font-family="system-ui, sans-serif" font-size="13" fill="#7a7f92"'


def milliseconds(value: float) -> str:
    return f"{value:.2f} ms" if value < 10 else f"{value:.0f} ms" if value < 1000 else f"{value / 1000:.1f} s"


def draw(rows: list[dict]) -> str:
    times = [row[field] for row in rows for field, _, _ in ENGINES if row.get(field)]
    low, high = math.log10(min(times)) - 0.25, math.log10(max(times))

    def x(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(value) - low) / (high - low)

    parts: list[str] = []
    y = TOP
    for row in rows:
        engines = [engine for engine in ENGINES if row.get(engine[0])]
        middle = y + BAR * len(engines) / 2 + 4
        name = escape(f"{row['shape']} · {row['backbone'].upper()}")
        parts.append(f'<text x="{LEFT - 12}" y="{middle:.0f}" text-anchor="end" {TEXT}>{name}</text>')
        for field, _, colour in engines:
            value, width = row[field], x(row[field]) - LEFT
            parts.append(f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR - 2}" rx="2" fill="{colour}"/>')
            ratio = "" if field == "edgepace" else f" ({value / row['edgepace']:.0f}×)"
            label = milliseconds(value) + ratio
            parts.append(f'<text x="{LEFT + width + 6:.1f}" y="{y + BAR - 4}" {TEXT}>{label}</text>')
            y += BAR
        y += GAP
    legend, at = [], LEFT
    for _, label, colour in ENGINES:
        legend.append(f'<rect x="{at}" y="22" width="13" height="13" rx="2" fill="{colour}"/>')
        legend.append(f'<text x="{at + 19}" y="33" {TEXT}>{escape(label)}</text>')
        at += 40 + 7 * len(label)
    note = "one epoch: training step + evaluation, 2 threads; logarithmic"
    legend.append(f'<text x="{LEFT}" y="{y + 10}" {TEXT}>{note}</text>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 24}" role="img">'
    title = "<title>Time per epoch of edgepace and its peers</title>"
    return "\n".join([head, title, *legend, *parts, "</svg>", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", type=Path, help="what compare.py --json wrote")
    parser.add_argument("picture", type=Path, help="the SVG file to write")
    arguments = parser.parse_args()
    rows = json.loads(arguments.measured.read_text())["rows"]
    arguments.picture.write_text(draw(rows))


if __name__ == "__main__":
    main()
