//! Each layer by itself: its gradients against central differences in `f64`, and everything against PyTorch Geometric.

use std::sync::Arc;

use edgepace_graph::Graph;

use super::*;
use crate::Backbone;
use crate::inputs::Matrix;
use crate::kernels::spmm::Csr;
use crate::structure::Normalisation;

#[allow(dead_code, reason = "the tests of whole models use the rest")]
#[path = "../../tests/nn/shared.rs"]
mod shared;
use shared::{Draws, Fixture, Fixtures, LayerResult, Shape, assert_close, central_differences};

const EPSILON: f64 = 0.1;

/// A layer on a graph; everything that it is differentiated by is in a [`Point`].
struct Setting {
    backbone: Backbone,
    graph: Arc<Graph>,
    inputs: usize,
    outputs: usize,
    log_degree: f64,
    feed: Feed,
}

/// In which form a layer gets its input.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Feed {
    Hidden,
    Constant,
    Sparse,
}

#[derive(Clone)]
struct Point<T> {
    inner: Vec<T>,
    weight: Vec<T>,
    bias: Vec<T>,
    input: Vec<T>,
    edges: Vec<T>,
}

impl<T: Real> Point<T> {
    const PARTS: [&'static str; 5] =
        ["inner parameters", "last weight", "last bias", "input", "edge weights"];

    fn part(&mut self, part: usize) -> &mut Vec<T> {
        [&mut self.inner, &mut self.weight, &mut self.bias, &mut self.input, &mut self.edges]
            .into_iter()
            .nth(part)
            .unwrap()
    }
}

/// A sparse matrix of the entries that are not 0.
struct Compressed<T> {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
}

impl<T: Real> Compressed<T> {
    fn new(rows: usize, columns: usize, value: impl Fn(usize, usize) -> T) -> Self {
        let mut matrix = Self { offsets: vec![0], columns: Vec::new(), values: Vec::new() };
        for row in 0..rows {
            for column in (0..columns).filter(|&column| value(row, column) != T::ZERO) {
                matrix.columns.push(column as u32);
                matrix.values.push(value(row, column));
            }
            matrix.offsets.push(matrix.values.len());
        }
        matrix
    }

    fn view(&self) -> Csr<'_, T> {
        Csr { offsets: &self.offsets, columns: &self.columns, values: &self.values, only: None }
    }
}

impl Setting {
    fn layer<T: Real>(&self) -> Box<dyn Convolution<T>> {
        match self.backbone {
            Backbone::Gcn | Backbone::Mlp => Box::new(Gcn::new(self.inputs, self.outputs)),
            Backbone::Gin => Box::new(Gin::new(self.inputs, self.outputs)),
            Backbone::Sage => Box::new(Sage::new(self.inputs, self.outputs)),
            Backbone::Pna => Box::new(Pna::new(self.inputs, self.outputs, self.log_degree)),
        }
    }

    fn normalisation(&self) -> Normalisation {
        match self.backbone {
            Backbone::Gcn | Backbone::Mlp => Normalisation::Symmetric,
            Backbone::Gin => Normalisation::Sum { epsilon: EPSILON },
            Backbone::Sage => Normalisation::Mean,
            Backbone::Pna => Normalisation::Plain,
        }
    }

    fn draw(&self, shape: Shape, draws: &mut Draws) -> Point<f64> {
        let layer = self.layer::<f64>();
        let [weight, bias] = layer.last();
        let mut input = draws.vector(self.graph.nodes() * self.inputs);
        if self.feed == Feed::Sparse {
            input.iter_mut().step_by(2).for_each(|x| *x = 0.0);
        }
        Point {
            inner: draws.vector(layer.inner().iter().map(ParameterSpec::len).sum()),
            weight: draws.vector(weight.len()),
            bias: draws.vector(bias.len()),
            input,
            edges: shape.weights(&self.graph, draws),
        }
    }

    /// The output, and the gradient of Σ output · cotangent if there is a cotangent.
    fn pass<T: Real>(&self, point: &Point<T>, cotangent: Option<&[T]>) -> (Vec<T>, Option<Point<T>>) {
        let threads = &Threads::new(1).unwrap();
        let mut structure = Structure::new(threads, &Arc::clone(&self.graph).into(), self.normalisation(), 0);
        structure.set_weights(threads, &point.edges).unwrap();
        let (rows, columns) = (self.graph.nodes(), self.inputs);
        let by_row = Compressed::new(rows, columns, |i, c| point.input[i * columns + c]);
        let by_column = Compressed::new(columns, rows, |c, i| point.input[i * columns + c]);
        let matrix = match self.feed {
            Feed::Sparse => Matrix::Sparse { by_row: by_row.view(), by_column: by_column.view() },
            Feed::Hidden | Feed::Constant => Matrix::Dense(&point.input),
        };
        let input = Input { matrix, rows, columns, constant: self.feed != Feed::Hidden };
        let context = Context::new(threads, &structure, 0);
        let parameters = (&point.inner[..], Affine { weight: &point.weight, bias: &point.bias });
        let mut layer = self.layer();
        let mut out = vec![T::ZERO; rows * self.outputs];
        layer.forward(context, input, parameters, Activation::Linear, &mut out);

        let gradient = cotangent.map(|cotangent| {
            let zeros = |like: &[T]| vec![T::ZERO; like.len()];
            let (mut inner, mut weight) = (zeros(&point.inner), zeros(&point.weight));
            let (mut bias, mut d_input) = (zeros(&point.bias), zeros(&point.input));
            let mut edges = ValueGradient::default();
            edges.reset(&structure);
            let last = AffineGradient { weight: &mut weight, bias: &mut bias };
            let wanted = Wanted {
                input: Some(InputGradient { out: &mut d_input, finish: Finish::Keep }),
                edges: Some(&mut edges),
            };
            layer.backward(context, input, parameters, cotangent, (&mut inner, last), wanted);
            structure.weight_gradient(threads, &mut edges);
            Point { inner, weight, bias, input: d_input, edges: edges.values }
        });
        (out, gradient)
    }
}

/// Every way of feeding a layer, narrower and wider than its output, so that both orders of map and propagation occur.
fn settings(backbone: Backbone) -> impl Iterator<Item = (Setting, Shape, Draws)> {
    let widths = [(3, 17), (17, 2)];
    let feeds = [Feed::Hidden, Feed::Constant, Feed::Sparse];
    let all = Shape::ALL.into_iter().flat_map(move |shape| {
        widths.into_iter().flat_map(move |width| feeds.map(move |feed| (shape, width, feed)))
    });
    all.zip(1..).map(move |((shape, (inputs, outputs), feed), seed)| {
        let mut draws = Draws::new(seed);
        let graph = Arc::new(shape.graph(9, 14, &mut draws));
        (Setting { backbone, graph, inputs, outputs, log_degree: 1.3, feed }, shape, draws)
    })
}

fn assert_gradients_are_central_differences(backbone: Backbone) {
    let mut worst = 0.0;
    for (setting, shape, mut draws) in settings(backbone) {
        let point = setting.draw(shape, &mut draws);
        let cotangent = draws.vector(setting.graph.nodes() * setting.outputs);
        let (_, gradient) = setting.pass(&point, Some(&cotangent));
        let mut gradient = gradient.unwrap();
        for (part, name) in Point::<f64>::PARTS.iter().enumerate() {
            let mut moved = point.clone();
            let start = moved.part(part).clone();
            let numeric = central_differences(&start, 1e-5, |values| {
                moved.part(part).copy_from_slice(values);
                let (out, _) = setting.pass(&moved, None);
                out.iter().zip(&cotangent).map(|(y, r)| y * r).sum()
            });
            let claim = format!(
                "{backbone:?} {}→{}, {shape:?}, {:?}: gradient by {name}",
                setting.inputs, setting.outputs, setting.feed
            );
            assert_close(&claim, gradient.part(part), &numeric, 1e-6, &mut worst);
        }
    }
    println!("{backbone:?}: worst relative error {worst:e}");
}

#[test]
fn gradients_of_a_gcn_layer_are_its_central_differences() {
    assert_gradients_are_central_differences(Backbone::Gcn);
}

#[test]
fn gradients_of_a_gin_layer_are_its_central_differences() {
    assert_gradients_are_central_differences(Backbone::Gin);
}

#[test]
fn gradients_of_a_sage_layer_are_its_central_differences() {
    assert_gradients_are_central_differences(Backbone::Sage);
}

#[test]
fn gradients_of_a_pna_layer_are_its_central_differences() {
    assert_gradients_are_central_differences(Backbone::Pna);
}

#[test]
fn hidden_constant_and_sparse_inputs_with_the_same_numbers_give_the_same_output() {
    for backbone in [Backbone::Gcn, Backbone::Gin, Backbone::Sage, Backbone::Pna] {
        for (mut setting, shape, mut draws) in settings(backbone) {
            let point = setting.draw(shape, &mut draws);
            let (expected, _) = setting.pass(&point, None);
            for feed in [Feed::Hidden, Feed::Constant, Feed::Sparse] {
                setting.feed = feed;
                let (found, _) = setting.pass(&point, None);
                assert_close(&format!("{backbone:?} {feed:?}"), &found, &expected, 1e-12, &mut 0.0);
            }
        }
    }
}

#[test]
fn layers_in_f32_agree_with_pytorch_geometric() {
    for fixtures in Fixtures::all() {
        let mut worst = 0.0;
        for case in &fixtures.layers {
            assert_fixture(&fixtures.backbone, case, &mut worst);
        }
        println!("{}: worst relative error {worst:e}", fixtures.backbone);
    }
}

fn assert_fixture(backbone: &str, case: &Fixture<LayerResult>, worst: &mut f64) {
    let backbone = Backbone::ALL.into_iter().find(|b| b.name() == backbone).unwrap();
    assert!(case.epsilon.is_none_or(|epsilon| epsilon == EPSILON));
    let mut setting = Setting {
        backbone,
        graph: Arc::new(case.graph()),
        inputs: case.x[0].len(),
        outputs: case.hidden,
        log_degree: case.mean_log_degree.unwrap_or(1.0),
        feed: Feed::Hidden,
    };
    if backbone == Backbone::Mlp {
        setting.graph = Arc::new(Graph::from_edges(case.nodes, &[], &[]).unwrap());
    }
    let narrow = |values: &[f64]| values.iter().map(|&x| x as f32).collect::<Vec<_>>();
    let wide = |values: &[f32]| values.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
    let layer = setting.layer::<f32>();
    let names = |specs: &[ParameterSpec]| specs.iter().map(|spec| spec.name.clone()).collect::<Vec<_>>();
    let (inner, last) = (names(&layer.inner()), names(&layer.last()));
    let tensors = |names: &[String]| {
        names.iter().flat_map(|name| Fixture::<LayerResult>::named(&case.params, name)).collect::<Vec<_>>()
    };
    let point = Point {
        inner: narrow(&tensors(&inner)),
        weight: narrow(&tensors(&last[..1])),
        bias: narrow(&tensors(&last[1..])),
        input: narrow(&case.x.concat()),
        edges: case.weights.as_ref().map_or_else(|| vec![1.0; setting.graph.edges()], |w| narrow(w)),
    };
    for feed in [Feed::Hidden, Feed::Constant, Feed::Sparse] {
        setting.feed = feed;
        let (out, gradient) = setting.pass(&point, Some(&narrow(&case.result.cotangent.concat())));
        let gradient = gradient.unwrap();
        let claim = |of: &str| format!("{backbone:?}, {}, {feed:?}: {of}", case.name);
        assert_close(&claim("output"), &wide(&out), &case.result.output.concat(), 1e-4, worst);

        let named = |name: &str| Fixture::<LayerResult>::named(&case.gradients, name);
        let mut start = 0;
        for spec in layer.inner() {
            let found = wide(&gradient.inner[start..start + spec.len()]);
            assert_close(&claim(&spec.name), &found, &named(&spec.name), 1e-4, worst);
            start += spec.len();
        }
        assert_close(&claim("last weight"), &wide(&gradient.weight), &named(&last[0]), 1e-4, worst);
        assert_close(&claim("last bias"), &wide(&gradient.bias), &named(&last[1]), 1e-4, worst);
        assert_close(&claim("x"), &wide(&gradient.input), &named("x"), 1e-4, worst);
        if case.weights.is_some() {
            assert_close(&claim("weights"), &wide(&gradient.edges), &named("weights"), 1e-4, worst);
        }
    }
}
