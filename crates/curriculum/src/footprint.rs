//! How much memory a curriculum will take, known before any of it is made.

use edgepace_graph::bytes::{array, graph as graph_bytes, total};
use edgepace_graph::{Graph, Transpose};

use crate::config::{CurriculumConfig, Kernel, MaskForm, Order, ResidualTerm};
use crate::curriculum::Curriculum;
use crate::evidence::logistic::COLUMNS;
use crate::history::UpdateRecord;
use crate::mask::Steps;

impl Curriculum {
    /// The bytes of a curriculum on a graph, told of `width` logits per node (twice as many where they are of many labels).
    ///
    /// With n nodes, e directed edges and p pairs: 29p + 12e + 4n, 8p for the ends of pairs, 12p more for the mask by steps
    /// of Adam, and for the kernel 8n (cosine), 4n · width (posterior), or 28p and 52 bytes per sample more (evidence); 4p
    /// for the random order. A graph without twins keeps its transpose for the gradient of residuals.
    pub fn bytes(config: &CurriculumConfig, graph: &Graph, width: usize, epochs: usize) -> u64 {
        let (nodes, edges) = (graph.nodes(), graph.edges());
        let symmetric = graph.twins().is_some();
        let pairs = if symmetric { edges / 2 } else { edges };
        let posterior = array::<f32>(&[nodes, width]);
        let kernel = match (config.order, config.kernel) {
            (Order::Random, _) => array::<f32>(&[pairs]),
            (Order::Learned, Kernel::Inner | Kernel::Trust) => 0,
            (Order::Learned, Kernel::Cosine) => array::<f64>(&[nodes]),
            (Order::Learned, Kernel::Posterior) => posterior,
            (Order::Learned, Kernel::Evidence) => {
                let samples = config.evidence_samples.min(pairs);
                total([
                    posterior,
                    array::<f32>(&[3, pairs]),
                    array::<u64>(&[2, pairs]),
                    array::<f32>(&[3 + 2, samples]),
                    array::<[f32; COLUMNS]>(&[2, samples]),
                ])
            }
        };
        let outgoing = config.residual_term != ResidualTerm::Off && !symmetric;
        total([
            array::<[u32; 2]>(&[pairs]),
            array::<u32>(&[edges]),
            array::<f32>(&[7, pairs]),
            array::<bool>(&[pairs]),
            if config.mask == MaskForm::Adam { array::<Steps>(&[pairs]) } else { 0 },
            array::<f32>(&[nodes]),
            array::<f32>(&[2, edges]),
            array::<UpdateRecord>(&[(epochs / config.period.max(1)).saturating_add(2).min(1 << 16)]),
            if outgoing { size_of::<Transpose>() as u64 + graph_bytes(nodes, edges, true) } else { 0 },
            kernel,
        ])
    }
}
