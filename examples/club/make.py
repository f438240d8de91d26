#!/usr/bin/env python3
"""Makes the example of GraphML, always the same: club.graphml, as NetworkX writes it. Needs networkx.

180 members of a sports club in three sections; who trains with whom, with the number of sessions as weight.
"""

import random
from pathlib import Path

import networkx as nx

SECTIONS = ["rowing", "running", "tennis"]
MEMBERS = 180
PAIRS = 500
SAME_SECTION = 0.8


def main() -> None:
    draw = random.Random(77)
    graph = nx.Graph()
    section = [draw.randrange(len(SECTIONS)) for _ in range(MEMBERS)]
    for member, of in enumerate(section):
        graph.add_node(f"m{member}", section=SECTIONS[of], age=round(draw.gauss(30 + 6 * of, 9)), member=draw.random() < 0.9)
    members = [[member for member in range(MEMBERS) if section[member] == of] for of in range(len(SECTIONS))]
    while graph.number_of_edges() < PAIRS:
        a = draw.randrange(MEMBERS)
        b = draw.choice(members[section[a]]) if draw.random() < SAME_SECTION else draw.randrange(MEMBERS)
        if a != b:
            graph.add_edge(f"m{a}", f"m{b}", weight=1 + int(draw.expovariate(0.4)))
    nx.write_graphml(graph, Path(__file__).parent / "club.graphml")


if __name__ == "__main__":
    main()
