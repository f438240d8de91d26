//! A learner need not be a neural network: label propagation is run, saved, resumed and stored like any other.

use std::sync::Arc;

use edgepace_graph::{Graph, Labels};
use edgepace_nn::{Logits, Metric, Threads};
use edgepace_train::{
    Epoch, Evaluated, Finished, Learner, Material, Recipe, Run, RunSpec, SavedModel, SavedStructure, Shelf,
    Snapshot, Start, State, TrainError,
};

use crate::resume::bits;
use crate::sets::{circle, config};

#[derive(Debug)]
struct Propagation;

impl Recipe for Propagation {
    fn start(&self, start: &Start<'_>) -> Result<Box<dyn Learner>, TrainError> {
        let material = Arc::clone(start.material);
        let beliefs = vec![0.0; material.graph().nodes() * material.labels().width()];
        Ok(Box::new(Propagated { material, beliefs }))
    }
}

/// The share of each class among what a node hears, training nodes knowing their own.
struct Propagated {
    material: Arc<Material>,
    beliefs: Vec<f32>,
}

impl Propagated {
    fn graph(&self) -> &Graph {
        self.material.graph()
    }
}

impl Learner for Propagated {
    fn epoch(&mut self, epoch: u32) -> Result<Epoch, TrainError> {
        let Labels::Classes(classes) = &**self.material.labels() else { panic!("classes") };
        let width = classes.width();
        let before = self.beliefs.clone();
        for node in 0..self.graph().nodes() {
            let edges = self.graph().in_edges(node);
            let share = 1.0 / edges.len().max(1) as f32;
            let mut row = vec![0.0; width];
            for edge in edges {
                let source = self.graph().sources()[edge] as usize;
                row.iter_mut().zip(&before[source * width..]).for_each(|(sum, x)| *sum += share * x);
            }
            self.beliefs[node * width..][..width].copy_from_slice(&row);
        }
        for &node in self.material.split().train() {
            let row = &mut self.beliefs[node as usize * width..][..width];
            row.fill(0.0);
            row[classes.of()[node as usize] as usize] = 1.0;
        }
        let rows = Logits::new(&self.beliefs, width);
        let nodes = self.material.split().validation();
        let validation = Metric::Accuracy.score(self.material.labels(), nodes, rows);
        let moved: f32 = before.iter().zip(&self.beliefs).map(|(a, b)| (a - b).abs()).sum();
        let evaluations = vec![Evaluated { epoch, number: 0, on: "full", validation, criterion: validation }];
        Ok(Epoch { loss: f64::from(moved), change: None, edges: self.graph().edges(), evaluations })
    }

    fn snapshot(&mut self, _: &Evaluated, into: &mut Snapshot) -> Result<(), TrainError> {
        into.logits.clone_from(&self.beliefs);
        into.structure = SavedStructure::default();
        Ok(())
    }

    fn save(&self) -> Result<State, TrainError> {
        let mut state = State::default();
        state.put_floats("beliefs", &self.beliefs);
        Ok(state)
    }

    fn restore(&mut self, state: &State) -> Result<(), TrainError> {
        self.beliefs = state.floats("beliefs", self.beliefs.len())?.to_vec();
        Ok(())
    }
}

#[test]
fn label_propagation_is_a_run_like_any_other() {
    let (dataset, split) = circle("homophily=0.9,nodes=300,edges=1500,classes=3", 1);
    let (material, judge) = Material::new(&dataset, &split).unwrap();
    let threads = Threads::new(1).unwrap();
    let config = config(&[("method", "propagation"), ("epochs", "12")]);
    let spec = RunSpec::of_recipe(Arc::new(Propagation), &config, &material, 1).unwrap();
    let finish = |resumed: bool| -> Finished {
        let mut run = Run::start(spec.clone(), &material, &Shelf::new(), &threads).unwrap();
        while run.advance().unwrap().is_some() {
            if resumed {
                let state = run.save().unwrap();
                run = Run::resume(spec.clone(), &material, &Shelf::new(), &threads, &state).unwrap();
            }
        }
        run.finish(&judge, None).unwrap()
    };
    let whole = finish(false);
    assert!(whole.record.result.test.unwrap() > 80.0, "{:?}", whole.record.result.test);
    assert!(bits(&whole) == bits(&finish(true)));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    whole.write_model(&path, &dataset, None).unwrap();
    let saved = SavedModel::open(&path).unwrap();
    assert!(saved.logits(&dataset).unwrap() == whole.snapshot.logits);
    let refused = saved.logits_of_new(&dataset, &threads).unwrap_err().to_string();
    assert!(refused.contains("expected a network, to predict for new nodes"), "{refused}");
}
