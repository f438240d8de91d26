//! The model: two convolutions with ReLU and dropout between, then a linear decoder without bias.
//!
//! The decoder D follows the last convolution with nothing between, so logits are computed by that convolution with its
//! final map (W, b) replaced by (W · D, b · D). The last propagation then is as wide as there are classes instead of as
//! wide as the hidden layer. Embeddings, the convolution's own output, are computed when asked for.

mod scores;
mod structures;

use std::ops::Range;
use std::sync::Arc;

use edgepace_graph::{Features, Graph, Refusal, WeightedGraph};

use crate::adam::Adam;
use crate::config::{Backbone, ModelConfig};
use crate::dropout::Dropout;
use crate::error::NnError;
use crate::evaluation::{Evaluation, predict};
use crate::fold::Folded;
use crate::inputs::{Input, Inputs};
use crate::kernels::finish::Finish;
use crate::kernels::loss::node_losses;
use crate::layer_norm::LayerNorm;
use crate::layers::{
    Activation, Affine, AffineGradient, Context, Convolution, Gcn, Gin, InputGradient, Pna, Sage, Wanted,
};
use crate::memory::{ensure, zeros};
use crate::metric::Logits;
use crate::parameters::{Initial, Parameter, ParameterSpec, Parameters};
use crate::real::Real;
use crate::structure::{Structure, ValueGradient};
use crate::task::Task;
use crate::threads::Threads;

pub use structures::{Layers, StructureId};
use structures::{normalisation, structure_graph};

/// Which gradients a backward pass computes beside those by parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    /// By edge weights.
    pub edges: bool,
    /// By input features.
    pub inputs: bool,
}

/// A two-layer GNN on one graph, with every buffer that training needs.
///
/// After the first epoch neither training nor evaluation allocates, when the loop runs inside [`Threads::run`] (outside,
/// handing work to the pool now and then does). Results are the same bits for any number of threads.
pub struct Model<T: Real> {
    config: ModelConfig,
    outputs: usize,
    threads: Threads,
    structures: Vec<(Arc<Graph>, Structure<T>)>,
    /// The structures that its layers work on now.
    current: Layers,
    inputs: Inputs<T>,
    parameters: Parameters<T>,
    seed: u64,
    convolutions: [Box<dyn Convolution<T>>; 2],
    layout: [LayerLayout; 2],
    decoder: Range<usize>,
    folded: Folded<T>,
    norm: Option<LayerNorm<T>>,
    hidden: Vec<T>,
    /// What `hidden` was computed from; none while nothing was.
    hidden_of: Option<HiddenOf>,
    /// The logits of the latest pass, or after its backward pass the gradient by them.
    logits: Vec<T>,
    predictions: Vec<u32>,
    /// The nodes whose hidden units were read for the latest score, and those that it was of.
    only: [Vec<bool>; 2],
    embeddings: Vec<T>,
    losses: Vec<T>,
    gradients: Gradients<T>,
}

/// What the hidden units depend on: version of the parameters, number and version of the first layer's structure, epoch of
/// the dropout.
#[derive(Clone, Copy, PartialEq)]
struct HiddenOf {
    parameters: u64,
    structure: (usize, u64),
    epoch: Option<u32>,
}

/// Where a layer's parameters lie in the flat vector: inner ones, then the last map's weight and bias.
struct LayerLayout {
    inner: Range<usize>,
    weight: Range<usize>,
    bias: Range<usize>,
}

impl LayerLayout {
    fn view<'a, T>(&self, flat: &'a [T]) -> (&'a [T], Affine<'a, T>) {
        let last = Affine { weight: &flat[self.weight.clone()], bias: &flat[self.bias.clone()] };
        (&flat[self.inner.clone()], last)
    }

    fn view_mut<'a, T>(&self, flat: &'a mut [T]) -> (&'a mut [T], AffineGradient<'a, T>) {
        let (inner, rest) = flat[self.inner.start..self.bias.end].split_at_mut(self.inner.len());
        let (weight, bias) = rest.split_at_mut(self.weight.len());
        (inner, AffineGradient { weight, bias })
    }
}

#[derive(Default)]
struct Gradients<T> {
    parameters: Vec<T>,
    /// By parameters, of a term of the loss that is added.
    term: Vec<T>,
    hidden: Vec<T>,
    inputs: Vec<T>,
    edges: ValueGradient<T>,
    /// By edge weights of the second layer, where it works on a structure of its own.
    second_edges: ValueGradient<T>,
    /// What the latest call asked for; the buffers of anything else are stale.
    latest: Extra,
}

impl<T: Real> Model<T> {
    /// A model with freshly drawn parameters, every edge with the weight that it has by itself: 1, unless the graph comes with
    /// weights. Those that are set later multiply it.
    ///
    /// `outputs` is the number of classes or of labels.
    ///
    /// # Errors
    /// A setting is out of range, or the features have not one row per node.
    pub fn new(
        graph: impl Into<WeightedGraph<T>>,
        features: Arc<Features>,
        outputs: usize,
        config: ModelConfig,
        seed: u64,
        threads: &Threads,
    ) -> Result<Self, NnError> {
        config.check(outputs)?;
        let graph = graph.into();
        let nodes = graph.graph().nodes();
        if features.rows() != nodes {
            return Err(Refusal::size("features", features.rows(), nodes, "one row per node").into());
        }
        let inputs = Inputs::new(features);
        let log_degree = config.mean_log_degree.unwrap_or_else(|| mean_log_degree(&graph));
        let convolution = |inputs: usize| -> Box<dyn Convolution<T>> {
            match config.backbone {
                Backbone::Gcn | Backbone::Mlp => Box::new(Gcn::new(inputs, config.hidden)),
                Backbone::Gin => Box::new(Gin::new(inputs, config.hidden)),
                Backbone::Sage => Box::new(Sage::new(inputs, config.hidden)),
                Backbone::Pna => Box::new(Pna::new(inputs, config.hidden, log_degree)),
            }
        };
        let convolutions = [convolution(inputs.columns()), convolution(config.hidden)];
        let mut specs = Vec::new();
        let layout = [0, 1].map(|layer| add_specs(&mut specs, &*convolutions[layer], layer));
        let decoder_start = layout[1].bias.end;
        let initial = Initial::Kaiming { fan_in: config.hidden };
        specs.push(ParameterSpec::new("decoder.weight", config.hidden, outputs, initial));
        let last_depth = layout[1].weight.len() / config.hidden;
        let structure =
            Structure::new(threads, &structure_graph(&config, &graph)?, normalisation(&config), 0);
        let parameters = Parameters::<T>::new(specs, seed);
        let gradients = Gradients { parameters: zeros(parameters.values.len()), ..Gradients::default() };
        Ok(Self {
            outputs,
            threads: threads.clone(),
            structures: vec![(Arc::clone(graph.graph()), structure)],
            current: StructureId::FIRST.into(),
            inputs,
            parameters,
            seed,
            convolutions,
            layout,
            decoder: decoder_start..decoder_start + config.hidden * outputs,
            folded: Folded::new(last_depth, config.hidden, outputs),
            norm: config.layer_norm.then(|| LayerNorm::new(config.hidden)),
            hidden: Vec::new(),
            hidden_of: None,
            logits: Vec::new(),
            predictions: Vec::new(),
            only: Default::default(),
            embeddings: Vec::new(),
            losses: Vec::new(),
            gradients,
            config,
        })
    }

    /// The settings.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// The graph that it works on now; that of its first layer where the layers have different ones.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.structures[self.current.0[0].0].0
    }

    /// The features of the nodes, as the first layer reads them.
    pub fn inputs(&self) -> Input<'_, T> {
        self.inputs.view()
    }

    /// The thread budget.
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// How many of the parameters, in the order of [`Model::parameters`], are those of the first layer.
    pub fn first_layer_parameters(&self) -> usize {
        self.layout[0].bias.end
    }

    /// How many numbers the parameters are.
    pub fn parameter_count(&self) -> usize {
        self.parameters.values.len()
    }

    /// Every parameter by name.
    pub fn parameters(&self) -> impl Iterator<Item = Parameter<'_, T>> {
        self.parameters.named(&self.parameters.values)
    }

    /// All parameters in one slice, in the order of [`Model::parameters`].
    pub fn parameter_values(&self) -> &[T] {
        &self.parameters.values
    }

    /// Replaces all parameters, as a copy of [`Model::parameter_values`] brings them back.
    ///
    /// # Errors
    /// Another number of values, or one that is not finite.
    pub fn set_parameter_values(&mut self, values: &[T]) -> Result<(), NnError> {
        self.replace(0..self.parameter_count(), values, "all parameters of the model")
    }

    /// Replaces one parameter.
    ///
    /// # Errors
    /// There is no parameter of that name, it has another size, or a value is not finite.
    pub fn set_parameter(&mut self, name: &str, values: &[T]) -> Result<(), NnError> {
        let Some(range) = self.parameters.range(name) else {
            return Err(Refusal::new("parameter", name, "one of the names that `parameters` lists").into());
        };
        self.replace(range, values, "rows · columns of the parameter")
    }

    fn replace(&mut self, range: Range<usize>, values: &[T], reason: &'static str) -> Result<(), NnError> {
        let (found, expected) = (values.len(), range.len());
        if found != expected {
            return Err(Refusal::size("parameter", found, expected, reason).into());
        }
        if let Some(position) = values.iter().position(|&v| !Into::<f64>::into(v).is_finite()) {
            let value = values[position].into();
            return Err(NnError::Value { field: "parameter", position, value, expected: "a finite number" });
        }
        self.parameters.values[range].copy_from_slice(values);
        self.parameters.version += 1;
        Ok(())
    }

    /// One training epoch: forward with the dropout of `epoch`, loss, backward, optimiser step. Returns the loss before
    /// the step.
    ///
    /// # Errors
    /// The task or the optimiser belongs to another size of graph or model.
    pub fn train(&mut self, task: &Task<T>, optimiser: &mut Adam<T>, epoch: u32) -> Result<f64, NnError> {
        optimiser.fits(self.parameter_count())?;
        let loss = self.gradients(task, Some(epoch), Extra::default())?;
        self.optimise(optimiser)?;
        Ok(loss)
    }

    /// One optimiser step along the latest gradient by parameters.
    ///
    /// # Errors
    /// The optimiser belongs to another size of model.
    pub fn optimise(&mut self, optimiser: &mut Adam<T>) -> Result<(), NnError> {
        optimiser.fits(self.parameter_count())?;
        optimiser.step(&self.threads, &mut self.parameters.values, &self.gradients.parameters);
        self.parameters.version += 1;
        Ok(())
    }

    fn dropout(&self, epoch: Option<u32>) -> Option<Dropout> {
        epoch.and_then(|epoch| Dropout::new(self.seed, epoch, self.config.dropout))
    }

    /// The loss and its gradients without a step; without dropout when `epoch` is `None`.
    ///
    /// # Errors
    /// The task does not fit the model.
    pub fn gradients(&mut self, task: &Task<T>, epoch: Option<u32>, extra: Extra) -> Result<f64, NnError> {
        task.fits(self.graph().nodes(), self.outputs)?;
        self.forward(epoch, [None; 2]);
        let (nodes, width) = (self.graph().nodes(), self.folded.width());
        let losses = ensure(&mut self.losses, nodes);
        let logits = (&mut self.logits[..], width);
        node_losses(&self.threads, task.labels(), (task.shares(), task.smoothing()), logits, losses);
        let loss = task.mean(losses);
        self.backward(epoch, extra);
        Ok(loss)
    }

    /// A pass without dropout over all nodes.
    pub fn evaluate(&mut self) -> Evaluation<'_, T> {
        self.forward(None, [None; 2]);
        let mut predictions = std::mem::take(&mut self.predictions);
        predictions.resize(self.graph().nodes(), 0);
        predict(&self.threads, self.latest_logits(), &mut predictions);
        self.predictions = predictions;
        Evaluation { logits: self.latest_logits(), predictions: &self.predictions }
    }

    /// The logits of the latest forward pass.
    fn latest_logits(&self) -> Logits<'_, T> {
        let stride = self.folded.width();
        let values = &self.logits[..self.graph().nodes() * stride];
        Logits { values, stride, outputs: self.outputs }
    }

    /// The embeddings z, the output of the last convolution: nodes × hidden, row-major. With the dropout of `epoch`, or
    /// without.
    pub fn embeddings(&mut self, epoch: Option<u32>) -> &[T] {
        self.forward_hidden(epoch, None);
        let [_, (graph, structure)] = self.current.0.map(|id| &self.structures[id.0]);
        let context = Context::new(&self.threads, structure, self.parameters.version);
        let (nodes, units) = (graph.nodes(), self.config.hidden);
        let out = ensure(&mut self.embeddings, nodes * units);
        let input = Input::hidden(&self.hidden, nodes, units);
        let parameters = self.layout[1].view(&self.parameters.values);
        self.convolutions[1].forward(context, input, parameters, Activation::Linear, out);
        out
    }

    /// Adds to the gradient by parameters that of a term of the loss which depends on the embeddings, given its gradient by
    /// them. Belongs to the latest call, which must be [`Model::embeddings`] of the same epoch.
    ///
    /// # Errors
    /// Not one number per embedding.
    pub fn add_embedding_gradient(&mut self, epoch: Option<u32>, gradient: &[T]) -> Result<(), NnError> {
        let dropout = self.dropout(epoch);
        let [(_, first_structure), (graph, structure)] = self.current.0.map(|id| &self.structures[id.0]);
        let context = Context::new(&self.threads, structure, self.parameters.version);
        let (nodes, units) = (graph.nodes(), self.config.hidden);
        let (found, expected) = (gradient.len(), nodes * units);
        if found != expected {
            let reason = "nodes · hidden units";
            return Err(Refusal::size("embedding gradient", found, expected, reason).into());
        }
        let values = &self.parameters.values;
        let [first, last] = &mut self.convolutions;
        let Gradients { parameters: total, term, hidden: d_hidden, .. } = &mut self.gradients;
        let term = ensure(term, values.len());
        let hidden = &self.hidden[..nodes * units];
        let scale = T::of(dropout.map_or(1.0, |dropout| dropout.scale));
        let d_hidden = ensure(d_hidden, nodes * units);
        let finish = Finish::Gate { hidden, scale };
        let wanted = Wanted { input: Some(InputGradient { out: d_hidden, finish }), edges: None };
        let (parameters, d_parameters) = (self.layout[1].view(values), self.layout[1].view_mut(term));
        let input = Input::hidden(hidden, nodes, units);
        last.backward(context, input, parameters, gradient, d_parameters, wanted);
        if let Some(norm) = &self.norm {
            norm.backward(&self.threads, d_hidden);
        }
        let (parameters, d_parameters) = (self.layout[0].view(values), self.layout[0].view_mut(term));
        let wanted = Wanted { input: None, edges: None };
        let context = Context { structure: first_structure, ..context };
        first.backward(context, self.inputs.view_in(epoch), parameters, d_hidden, d_parameters, wanted);
        self.hidden_of = self.hidden_of.filter(|_| first.keeps_forward());
        // The decoder comes after the embeddings and takes no part.
        for (total, &term) in total[..self.decoder.start].iter_mut().zip(&*term) {
            *total += term;
        }
        Ok(())
    }

    /// The loss of each node in the latest call of `train` or `gradients`; 0 for nodes without weight in the task.
    pub fn node_losses(&self) -> &[T] {
        &self.losses
    }

    /// The latest gradient by each parameter; 0 before the first.
    pub fn parameter_gradients(&self) -> impl Iterator<Item = Parameter<'_, T>> {
        self.parameters.named(&self.gradients.parameters)
    }

    /// The latest gradient by edge weight, one per edge id; empty when none was asked for. Where each layer works on a
    /// structure of its own, that of the first.
    pub fn edge_gradients(&self) -> &[T] {
        if self.gradients.latest.edges { &self.gradients.edges.values } else { &[] }
    }

    /// The latest gradient by weight of the second layer's edges; empty when none was asked for, or when it works on the
    /// first layer's structure.
    pub fn second_edge_gradients(&self) -> &[T] {
        let wanted = self.gradients.latest.edges && !self.current.shared();
        if wanted { &self.gradients.second_edges.values } else { &[] }
    }

    /// The latest gradient by input features, nodes × features; empty when none was asked for. Where some values are
    /// dropped, by what the first layer read.
    pub fn input_gradients(&self) -> &[T] {
        if self.gradients.latest.inputs { &self.gradients.inputs } else { &[] }
    }

    /// The hidden units, output of the first layer with ReLU: nodes × hidden, row-major. With the dropout of `epoch`, or
    /// without. The next pass of the same epoch goes on from them.
    pub fn hidden(&mut self, epoch: Option<u32>) -> &[T] {
        self.forward_hidden(epoch, None);
        &self.hidden[..self.graph().nodes() * self.config.hidden]
    }

    /// The first layer, unless its output is there already; of the nodes that are wanted, all if `None`.
    fn forward_hidden(&mut self, epoch: Option<u32>, only: Option<&[bool]>) {
        let dropout = self.dropout(epoch);
        let input_dropout =
            epoch.and_then(|epoch| Dropout::of_inputs(self.seed, epoch, self.config.input_dropout));
        if let (Some(epoch), Some(dropout)) = (epoch, input_dropout) {
            self.inputs.drop_values(&self.threads, epoch, dropout);
        }
        let (graph, structure) = &self.structures[self.current.0[0].0];
        let of = HiddenOf {
            parameters: self.parameters.version,
            structure: (structure.number(), structure.version()),
            epoch,
        };
        if self.hidden_of == Some(of) {
            return;
        }
        let context = Context { only, ..Context::new(&self.threads, structure, self.parameters.version) };
        let hidden = ensure(&mut self.hidden, graph.nodes() * self.config.hidden);
        let parameters = self.layout[0].view(&self.parameters.values);
        let input = self.inputs.view_in(epoch);
        let first = &mut self.convolutions[0];
        match &mut self.norm {
            None => first.forward(context, input, parameters, Activation::Relu(dropout), hidden),
            Some(norm) => {
                first.forward(context, input, parameters, Activation::Linear, norm.input(graph.nodes()));
                norm.activate(&self.threads, dropout, only, hidden);
            }
        }
        self.hidden_of = Some(of).filter(|_| only.is_none());
    }

    /// Both layers; of each the nodes whose output is wanted, all if `None`.
    fn forward(&mut self, epoch: Option<u32>, [read, only]: [Option<&[bool]>; 2]) {
        self.forward_hidden(epoch, read);
        let (graph, structure) = &self.structures[self.current.0[1].0];
        let context = Context { only, ..Context::new(&self.threads, structure, self.parameters.version) };
        let (nodes, units) = (graph.nodes(), self.config.hidden);
        let values = &self.parameters.values;
        let (inner, own) = self.layout[1].view(values);
        let folded = self.folded.fold(own, &values[self.decoder.clone()]);
        let logits = ensure(&mut self.logits, nodes * folded.width());
        let input = Input::hidden(&self.hidden[..nodes * units], nodes, units);
        self.convolutions[1].forward(context, input, (inner, folded), Activation::Linear, logits);
    }

    fn backward(&mut self, epoch: Option<u32>, extra: Extra) {
        let dropout = self.dropout(epoch);
        let shared = self.current.shared();
        let [(graph, structure), (second_graph, second_structure)] =
            self.current.0.map(|id| &self.structures[id.0]);
        let context = Context::new(&self.threads, structure, self.parameters.version);
        let (nodes, units) = (graph.nodes(), self.config.hidden);
        let values = &self.parameters.values;
        let gradients = &mut self.gradients;
        gradients.latest = extra;
        if extra.edges {
            gradients.edges.reset(structure);
            if !shared {
                gradients.second_edges.reset(second_structure);
            }
        }
        let [first, last] = &mut self.convolutions;
        let hidden = &self.hidden[..nodes * units];

        let scale = T::of(dropout.map_or(1.0, |dropout| dropout.scale));
        let d_hidden = ensure(&mut gradients.hidden, nodes * units);
        let edges = if shared { &mut gradients.edges } else { &mut gradients.second_edges };
        let wanted = Wanted {
            input: Some(InputGradient { out: d_hidden, finish: Finish::Gate { hidden, scale } }),
            edges: extra.edges.then_some(edges),
        };
        let (inner, own) = self.layout[1].view(values);
        let (d_layers, d_decoder) = gradients.parameters.split_at_mut(self.decoder.start);
        let (d_inner, d_own) = self.layout[1].view_mut(d_layers);
        let (folded, d_folded) = self.folded.with_gradient();
        let input = Input::hidden(hidden, nodes, units);
        let second = Context { structure: second_structure, ..context };
        last.backward(second, input, (inner, folded), &self.logits, (d_inner, d_folded), wanted);
        self.folded.unfold(&self.threads, own, d_own, d_decoder);
        if let Some(norm) = &self.norm {
            norm.backward(&self.threads, d_hidden);
        }

        let inputs = self.inputs.view_in(epoch);
        let wanted = Wanted {
            input: extra.inputs.then(|| InputGradient {
                out: ensure(&mut gradients.inputs, nodes * inputs.columns),
                finish: Finish::Keep,
            }),
            edges: extra.edges.then_some(&mut gradients.edges),
        };
        let parameters = self.layout[0].view(values);
        let d_parameters = self.layout[0].view_mut(&mut gradients.parameters);
        first.backward(context, inputs, parameters, d_hidden, d_parameters, wanted);
        self.hidden_of = self.hidden_of.filter(|_| first.keeps_forward());
        if extra.edges {
            // The MLP propagates along no edge, so its loss moves with none of the weights.
            structure.weight_gradient(&self.threads, &mut gradients.edges);
            gradients.edges.values.resize(structure.weights().max(graph.edges()), T::ZERO);
            if !shared {
                second_structure.weight_gradient(&self.threads, &mut gradients.second_edges);
                gradients
                    .second_edges
                    .values
                    .resize(second_structure.weights().max(second_graph.edges()), T::ZERO);
            }
        }
    }
}

/// δ of PNA: the mean of ln(in-degree + 1) over the nodes, or 1 where that is 0. Edges count by what they weigh themselves.
pub fn mean_log_degree<T: Real>(graph: &WeightedGraph<T>) -> f64 {
    let (graph, own) = (graph.graph(), graph.weights());
    let degree = |node: usize| match own {
        None => graph.in_edges(node).len() as f64,
        Some(own) => own[graph.in_edges(node)].iter().map(|&weight| Into::<f64>::into(weight)).sum(),
    };
    let total: f64 = (0..graph.nodes()).map(|node| libm::log1p(degree(node))).sum();
    if total > 0.0 { total / graph.nodes() as f64 } else { 1.0 }
}

/// Appends a layer's parameters to the model's and says where they lie.
fn add_specs<T: Real>(
    specs: &mut Vec<ParameterSpec>,
    convolution: &dyn Convolution<T>,
    layer: usize,
) -> LayerLayout {
    let start: usize = specs.iter().map(ParameterSpec::len).sum();
    let mut named = |spec: ParameterSpec| {
        specs.push(ParameterSpec { name: format!("conv{}.{}", layer + 1, spec.name), ..spec });
    };
    let inner = convolution.inner();
    let [weight, bias] = convolution.last();
    let inner_end = start + inner.iter().map(ParameterSpec::len).sum::<usize>();
    let weight_end = inner_end + weight.len();
    let layout = LayerLayout {
        inner: start..inner_end,
        weight: inner_end..weight_end,
        bias: weight_end..weight_end + bias.len(),
    };
    inner.into_iter().chain([weight, bias]).for_each(&mut named);
    layout
}
