use crate::{Classes, Dropped, Graph, UNLABELLED};

/// A graph in a few numbers. All are 0 for a graph without nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphStats {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of directed edges.
    pub edges: usize,
    /// Whether every edge has its reverse.
    pub undirected: bool,
    /// How many edges point at a node.
    pub in_degree: DegreeStats,
    /// Nodes with neither in-edges nor out-edges.
    pub isolated: usize,
    /// Weakly connected components; an isolated node is one of its own.
    pub components: usize,
    /// Number of nodes of the largest weakly connected component.
    pub largest_component: usize,
    /// What the input held and the graph does not.
    pub dropped: Dropped,
}

/// The spread of the in-degrees of a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct DegreeStats {
    /// The smallest.
    pub min: usize,
    /// The middle one, or the mean of the middle two.
    pub median: f64,
    /// The mean: edges per node.
    pub mean: f64,
    /// The largest.
    pub max: usize,
}

impl Graph {
    /// The graph in a few numbers. O(nodes log nodes + edges).
    pub fn stats(&self) -> GraphStats {
        let mut components = Components::new(self.nodes());
        for target in 0..self.nodes() {
            for edge in self.in_edges(target) {
                components.join(target as u32, self.sources()[edge]);
            }
        }
        let sizes = components.sizes();
        GraphStats {
            nodes: self.nodes(),
            edges: self.edges(),
            undirected: self.twins().is_some(),
            in_degree: in_degrees(self),
            // There are no self-loops: a component of one node has no edges.
            isolated: sizes.clone().filter(|&size| size == 1).count(),
            components: sizes.clone().count(),
            largest_component: sizes.max().unwrap_or(0) as usize,
            dropped: self.dropped(),
        }
    }
}

fn in_degrees(graph: &Graph) -> DegreeStats {
    let mut degrees: Vec<usize> = graph.offsets().windows(2).map(|row| row[1] - row[0]).collect();
    degrees.sort_unstable();
    let (Some(&min), Some(&max)) = (degrees.first(), degrees.last()) else {
        return DegreeStats { min: 0, median: 0.0, mean: 0.0, max: 0 };
    };
    let nodes = degrees.len();
    let median = (degrees[(nodes - 1) / 2] + degrees[nodes / 2]) as f64 / 2.0;
    DegreeStats { min, median, mean: graph.edges() as f64 / nodes as f64, max }
}

/// Disjoint sets of nodes (union by size, path halving).
struct Components {
    parent: Vec<u32>,
    /// Number of members, right at the roots only.
    size: Vec<u32>,
}

impl Components {
    fn new(nodes: usize) -> Components {
        Components { parent: (0..nodes as u32).collect(), size: vec![1; nodes] }
    }

    fn root(&mut self, mut node: u32) -> u32 {
        while self.parent[node as usize] != node {
            let grandparent = self.parent[self.parent[node as usize] as usize];
            self.parent[node as usize] = grandparent;
            node = grandparent;
        }
        node
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return;
        }
        let (small, large) = if self.size[a as usize] < self.size[b as usize] { (a, b) } else { (b, a) };
        self.parent[small as usize] = large;
        self.size[large as usize] += self.size[small as usize];
    }

    fn sizes(&self) -> impl Iterator<Item = u32> + Clone {
        let is_root = |&node: &usize| self.parent[node] as usize == node;
        (0..self.parent.len()).filter(is_root).map(|root| self.size[root])
    }
}

/// The share of edges whose ends share a class, between 0 and 1.
///
/// An edge with an unlabelled end does not count (nor does one whose end `classes` does not cover);
/// `None` when no edge counts.
pub fn edge_homophily(graph: &Graph, classes: &Classes) -> Option<f64> {
    let class_of = |node: usize| classes.of().get(node).copied().filter(|&class| class != UNLABELLED);
    let (mut counted, mut alike) = (0_usize, 0_usize);
    for target in 0..graph.nodes() {
        let Some(class) = class_of(target) else { continue };
        for edge in graph.in_edges(target) {
            if let Some(other) = class_of(graph.sources()[edge] as usize) {
                counted += 1;
                alike += usize::from(class == other);
            }
        }
    }
    (counted > 0).then(|| alike as f64 / counted as f64)
}
