//! What a model says of some nodes, sooner than of all.

use edgepace_graph::{GraphError, Labels};

use crate::config::Backbone;
use crate::error::NnError;
use crate::evaluation::check_fit;
use crate::metric::Metric;
use crate::model::Model;
use crate::real::Real;

impl<T: Real> Model<T> {
    /// How good it is on `nodes` without dropout; `None` where [`Metric::score`] gives none.
    ///
    /// The same as from [`Model::evaluate`], sooner: the second layer propagates to no other node.
    ///
    /// # Errors
    /// A node is out of range, or the labels are for another graph or model. Without nodes nothing is looked at.
    pub fn score(&mut self, metric: Metric, labels: &Labels, nodes: &[u32]) -> Result<Option<f64>, NnError> {
        if nodes.is_empty() {
            return Ok(None);
        }
        self.forward_to(nodes);
        let logits = self.latest_logits();
        check_fit(logits, self.graph().nodes(), labels, nodes)?;
        Ok(metric.score(labels, nodes, logits))
    }

    /// The logits of `nodes` without dropout, one row after another, in place of what `out` held. As sooner than
    /// [`Model::evaluate`] as [`Model::score`] is.
    ///
    /// # Errors
    /// A node is out of range.
    pub fn logits_of(&mut self, nodes: &[u32], out: &mut Vec<T>) -> Result<(), NnError> {
        let all = self.graph().nodes();
        if let Some(position) = nodes.iter().position(|&node| node as usize >= all) {
            let value = nodes[position];
            return Err(GraphError::NodeOutOfRange { field: "nodes", position, value, nodes: all }.into());
        }
        out.clear();
        if nodes.is_empty() {
            return Ok(());
        }
        self.forward_to(nodes);
        let logits = self.latest_logits();
        for &node in nodes {
            out.extend_from_slice(logits.of(node as usize));
        }
        Ok(())
    }

    /// A pass without dropout whose logits are those of `nodes` alone; of those that are out of range there are none.
    fn forward_to(&mut self, nodes: &[u32]) {
        let [mut read, mut scored] = std::mem::take(&mut self.only);
        scored.clear();
        scored.resize(self.graph().nodes(), false);
        for &node in nodes {
            if let Some(scored) = scored.get_mut(node as usize) {
                *scored = true;
            }
        }
        // Where no values of the features are dropped, the next step of training goes on from the products of all nodes.
        let all = self.config.input_dropout == 0.0 || !self.find_read(&scored, &mut read);
        self.forward(None, [Some(&read[..]).filter(|_| !all), Some(&scored)]);
        self.only = [read, scored];
    }

    /// The nodes whose hidden units the second layer reads for those that are wanted; or false where it reads all.
    fn find_read(&self, wanted: &[bool], read: &mut Vec<bool>) -> bool {
        let (graph, structure) = &self.structures[self.current.0[1].0];
        wanted.clone_into(read);
        if self.config.backbone != Backbone::Mlp {
            for node in (0..wanted.len()).filter(|&node| wanted[node]) {
                for &source in &graph.sources()[graph.in_edges(node)] {
                    read[source as usize] = true;
                }
            }
        }
        structure.matrix().is_none()
    }
}
