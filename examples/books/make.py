#!/usr/bin/env python3
"""Makes the example graph: books.csv and bought_together.csv, always the same.

320 books of four genres. What is known of a book says little of its genre; which books are bought together says more, but one
edge in five is an accident: gift baskets, shared accounts, two orders in one parcel. The column `fake` marks those. It is there
to judge the audit and is not read unless it is asked for.
"""

import csv
import random
from pathlib import Path

GENRES = ["cooking", "crime", "history", "poetry"]
BOOKS = 320
TRUE_EDGES = 960
ACCIDENTS = 240
LABELLED = 0.75

FIRST = ["Silent", "Salted", "Broken", "Golden", "Winter", "Hidden", "Little", "Burning", "Northern", "Borrowed", "Paper", "Iron"]
SECOND = ["Harbour", "Kitchen", "Letter", "Orchard", "Verdict", "Empire", "River", "Lantern", "Garden", "Witness", "Voyage", "Table"]

# Mean and spread by genre, in the order of GENRES.
PAGES = [(240, 60), (360, 70), (420, 90), (140, 50)]
PRICE = [(27, 6), (14, 4), (24, 7), (13, 4)]
YEAR = [(2014, 6), (2012, 8), (2006, 10), (2003, 13)]
FORMAT = [
    {"hardcover": 6, "paperback": 3, "ebook": 1},
    {"hardcover": 1, "paperback": 5, "ebook": 4},
    {"hardcover": 5, "paperback": 3, "ebook": 2},
    {"hardcover": 2, "paperback": 7, "ebook": 1},
]


def main() -> None:
    draw = random.Random(2310)
    titles = [f"The {first} {second}" for first in FIRST for second in SECOND]
    titles += [f"{first} {second}s" for first in FIRST for second in SECOND]
    titles += [f"A {first} {second}" for first in FIRST for second in SECOND]
    draw.shuffle(titles)
    genre = [draw.randrange(len(GENRES)) for _ in range(BOOKS)]
    ids = [f"b{number:03d}" for number in range(BOOKS)]

    books = []
    for book in range(BOOKS):
        of = genre[book]
        pages = max(32, round(draw.gauss(*PAGES[of])))
        price = max(4.0, draw.gauss(*PRICE[of]))
        year = min(2023, round(draw.gauss(*YEAR[of])))
        added = f"{draw.randint(2019, 2024)}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
        choices, weights = zip(*FORMAT[of].items())
        books.append(
            {
                "id": ids[book],
                "title": titles[book],
                "genre": GENRES[of] if draw.random() < LABELLED else "",
                "pages": pages if draw.random() < 0.95 else "",
                "price": f"{price:.2f}",
                "year": year,
                "format": draw.choices(choices, weights)[0],
                "added": added,
            }
        )

    by_genre = [[book for book in range(BOOKS) if genre[book] == of] for of in range(len(GENRES))]
    # Some books sell well: they are drawn more often.
    popular = [draw.paretovariate(2.5) for _ in range(BOOKS)]
    edges: dict[tuple[int, int], tuple[int, int]] = {}
    while len(edges) < TRUE_EDGES:
        a = draw.choices(range(BOOKS), popular)[0]
        b = draw.choices(by_genre[genre[a]], [popular[book] for book in by_genre[genre[a]]])[0]
        if a != b:
            edges.setdefault((min(a, b), max(a, b)), (1 + min(8, int(draw.expovariate(0.5))), 0))
    while len(edges) < TRUE_EDGES + ACCIDENTS:
        a, b = draw.randrange(BOOKS), draw.randrange(BOOKS)
        if a != b and genre[a] != genre[b]:
            edges.setdefault((min(a, b), max(a, b)), (1 + min(8, int(draw.expovariate(0.8))), 1))
    pairs = list(edges.items())
    draw.shuffle(pairs)

    folder = Path(__file__).parent
    with (folder / "books.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, list(books[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(books)
    with (folder / "bought_together.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["book", "with", "orders", "fake"])
        for (a, b), (orders, fake) in pairs:
            table.writerow([ids[a], ids[b], orders, fake])


if __name__ == "__main__":
    main()
