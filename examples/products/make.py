#!/usr/bin/env python3
"""Makes the example of Parquet tables, always the same: products.parquet and also_bought.parquet. Needs pandas and pyarrow.

600 products of five departments, of which 30 % are labelled. Ids are strings, brand and colour are categories, `listed` is a
date, `rating` has gaps.
"""

import datetime
import random
from pathlib import Path

import pandas as pd

DEPARTMENTS = ["audio", "garden", "kitchen", "office", "toys"]
BRANDS = ["Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Ginkgo", "Hazel"]
COLOURS = ["black", "green", "red", "white"]
PRODUCTS = 600
EDGES = 2400
SAME_DEPARTMENT = 0.75
LABELLED = 0.3


def main() -> None:
    draw = random.Random(1735)
    department = [draw.randrange(len(DEPARTMENTS)) for _ in range(PRODUCTS)]
    ids = [f"P{draw.randrange(16**6):06X}-{number:03d}" for number in range(PRODUCTS)]
    rows = []
    for product, of in enumerate(department):
        rows.append(
            {
                "sku": ids[product],
                "department": DEPARTMENTS[of] if draw.random() < LABELLED else None,
                "price": round(draw.lognormvariate(3 + of / 5, 0.6), 2),
                "rating": round(min(5.0, draw.gauss(4 - of / 10, 0.5)), 1) if draw.random() < 0.9 else None,
                "brand": BRANDS[(draw.randrange(3) + of) % len(BRANDS)] if draw.random() < 0.7 else draw.choice(BRANDS),
                "colour": draw.choice(COLOURS),
                "listed": datetime.date(2020, 1, 1) + datetime.timedelta(days=draw.randrange(1800)),
            }
        )
    members = [[product for product in range(PRODUCTS) if department[product] == of] for of in range(len(DEPARTMENTS))]
    pairs = set()
    while len(pairs) < EDGES:
        a = draw.randrange(PRODUCTS)
        b = draw.choice(members[department[a]]) if draw.random() < SAME_DEPARTMENT else draw.randrange(PRODUCTS)
        if a != b:
            pairs.add((min(a, b), max(a, b)))
    pairs = sorted(pairs)
    draw.shuffle(pairs)

    folder = Path(__file__).parent
    pd.DataFrame(rows).to_parquet(folder / "products.parquet", index=False)
    edges = pd.DataFrame({"sku_a": [ids[a] for a, _ in pairs], "sku_b": [ids[b] for _, b in pairs]})
    edges.to_parquet(folder / "also_bought.parquet", index=False)


if __name__ == "__main__":
    main()
