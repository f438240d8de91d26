use edgepace_graph::{Dropped, Graph};
use proptest::prelude::*;

use crate::edge_lists::{EdgeList, edge_lists, edges_of, empty_graphs, graphs};

/// A graph and a decision about each of its edges.
fn selections() -> impl Strategy<Value = (Graph, Vec<bool>)> {
    graphs().prop_flat_map(|graph| {
        let edges = graph.edges();
        (Just(graph), prop::collection::vec(any::<bool>(), edges))
    })
}

proptest! {
    #[test]
    fn a_selection_is_the_graph_of_the_kept_edges_and_maps_back_to_them((graph, keep) in selections()) {
        let kept: Vec<usize> = (0..graph.edges()).filter(|&edge| keep[edge]).collect();
        let parent = edges_of(&graph);
        let (targets, sources) = kept.iter().map(|&edge| parent[edge]).unzip();
        let rebuilt = EdgeList { nodes: graph.nodes(), sources, targets }.directed();

        let compacted = graph.select(|edge| keep[edge]);
        prop_assert_eq!(&compacted.graph, &rebuilt);
        prop_assert_eq!(compacted.edge_of, kept.iter().map(|&edge| edge as u32).collect::<Vec<_>>());
    }

    #[test]
    fn a_selection_made_once_for_both_directions_keeps_its_twins(list in edge_lists(), modulus in 1_u32..5) {
        let graph = list.undirected();
        let twins = graph.twins().unwrap();
        let compacted = graph.select(|edge| twins[edge].min(edge as u32).is_multiple_of(modulus));
        let kept_twins = compacted.graph.twins().unwrap();
        for (edge, &twin) in kept_twins.iter().enumerate() {
            let parent = compacted.edge_of[edge] as usize;
            prop_assert_eq!(compacted.edge_of[twin as usize], twins[parent]);
        }
    }

    #[test]
    fn keeping_everything_changes_nothing_but_the_report_on_the_input(graph in graphs()) {
        let compacted = graph.select(|_| true);
        prop_assert_eq!(compacted.graph.offsets(), graph.offsets());
        prop_assert_eq!(compacted.graph.sources(), graph.sources());
        prop_assert_eq!(compacted.graph.twins(), graph.twins());
        prop_assert_eq!(compacted.graph.dropped(), Dropped::default());
    }

    #[test]
    fn each_edge_is_asked_about_once_in_the_order_of_ids(graph in graphs()) {
        let mut asked = Vec::new();
        graph.select(|edge| {
            asked.push(edge);
            edge % 2 == 0
        });
        prop_assert_eq!(asked, (0..graph.edges()).collect::<Vec<_>>());
    }
}

#[test]
fn one_direction_of_an_undirected_edge_has_no_twin() {
    let graph = Graph::undirected(2, &[0], &[1]).unwrap();
    let compacted = graph.select(|edge| edge == 1);
    assert_eq!(compacted.graph.twins(), None);
    assert_eq!(compacted.edge_of, [1]);
}

#[test]
fn the_symmetric_part_of_a_directed_graph_gains_twins() {
    let graph = Graph::from_edges(3, &[0, 1, 1], &[1, 0, 2]).unwrap();
    assert_eq!(graph.twins(), None);
    let one_way = graph.edge_id(1, 2).unwrap() as usize;
    assert_eq!(graph.select(|edge| edge != one_way).graph.twins(), Some(&[1, 0][..]));
}

#[test]
fn selecting_nothing_leaves_every_node_and_no_edge() {
    let graph = Graph::undirected(3, &[0, 1], &[1, 2]).unwrap();
    let compacted = graph.select(|_| false);
    assert_eq!((compacted.graph.nodes(), compacted.graph.edges()), (3, 0));
    assert!(compacted.edge_of.is_empty());
    for graph in empty_graphs() {
        assert_eq!(graph.select(|_| true).graph, graph);
    }
}
