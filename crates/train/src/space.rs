//! The combinations of settings that a grid, a random search or successive halving tries.
//!
//! The paper's space: epochs 150 and 500, learning rate 1e-2, 5e-3 and 1e-3, and where the method has it the pace, whose knob
//! k = 1 … 5 is `full_at` = 4/(k + 3). Beside it each method's own: the values that its settings name as worth trying. A grid is
//! over the paper's space, and over the method's own where it has no such pace; random search and halving draw from both. What the
//! config sets of the method is not touched, nor are epochs and a learning rate other than the defaults.
//!
//! Successive halving (Jamieson & Talwalkar, 2016): n combinations are trained for 1/η^r of their epochs, r being the rounds to come,
//! the best n/η of them on validation for η times as many, and so on up to all of their epochs; η = 3. Each round trains from the
//! beginning, and what is kept comes from the last round.

use edgepace_graph::random::{Purpose, Stream};
use toml::Value;

use crate::config::RunConfig;
use crate::error::TrainError;
use crate::ground::{self, Ground};
use crate::registry::MethodInfo;
use crate::search_kind::Search;

const EPOCHS: [u32; 2] = [150, 500];
const RATES: [f64; 3] = [1e-2, 5e-3, 1e-3];
/// The setting that the paper's knob sets.
const PACE: &str = "full_at";
/// The knobs 1 … 5.
const PACES: [f64; 5] = [1.0, 0.8, 2.0 / 3.0, 4.0 / 7.0, 0.5];
/// More trainings than a grid is for.
const MOST: usize = 1000;
/// η: the share of combinations that goes on is 1/η.
const ETA: usize = 3;

/// Combinations of settings.
pub(crate) struct Space {
    base: RunConfig,
    epochs: Vec<u32>,
    rates: Vec<f64>,
    /// Settings of the method with their values, those that vary slowest first.
    own: Vec<(&'static str, Vec<Value>)>,
}

impl Space {
    /// What a search of that kind can try of a method, beside what the config sets.
    pub(crate) fn of(kind: Search, method: &MethodInfo, base: &RunConfig) -> Self {
        let defaults = RunConfig::default();
        let epochs = if base.epochs == defaults.epochs { EPOCHS.to_vec() } else { vec![base.epochs] };
        let is_wide = base.stands_on() == Ground::Strong && base.layer_norm == Some(true);
        let usual = ground::step_size(is_wide);
        let rates = match base.lr {
            Some(rate) if rate != usual => vec![rate],
            _ if RATES.contains(&usual) => RATES.to_vec(),
            _ => [&[usual][..], &RATES].concat(),
        };
        let open = |name: &str| !base.settings.contains_key(name);
        let has_pace = method.settings.iter().any(|setting| setting.name == PACE);
        let mut own = Vec::new();
        if has_pace && open(PACE) {
            own.push((PACE, PACES.map(Value::Float).to_vec()));
        }
        if !(has_pace && kind == Search::Grid) {
            let settings =
                method.settings.iter().filter(|setting| setting.name != PACE && open(setting.name));
            for setting in settings.filter(|setting| !setting.search.is_empty()) {
                own.push((setting.name, setting.trials().collect()));
            }
        }
        Self { base: RunConfig { search: Search::Off, ..base.clone() }, epochs, rates, own }
    }

    /// How many combinations there are.
    fn size(&self) -> usize {
        let own = self.own.iter().map(|(_, values)| values.len());
        own.fold(self.epochs.len() * self.rates.len(), usize::saturating_mul)
    }

    /// A combination by its number: epochs and rate vary slowest, because a warm start is made for each of their pairs.
    fn config(&self, mut number: usize) -> RunConfig {
        let mut config = self.base.clone();
        for (name, values) in self.own.iter().rev() {
            config.settings.insert((*name).to_owned(), values[number % values.len()].clone());
            number /= values.len();
        }
        config.lr = Some(self.rates[number % self.rates.len()]);
        config.epochs = self.epochs[(number / self.rates.len()) % self.epochs.len()];
        config
    }

    /// What is trained first: all combinations of a grid, or those that the seed draws, that the method takes.
    ///
    /// # Errors
    /// A grid that is too large, or nothing that the method takes.
    pub(crate) fn first(
        &self,
        kind: Search,
        method: &MethodInfo,
        seed: u64,
    ) -> Result<Vec<RunConfig>, TrainError> {
        let (size, takes) = (self.size(), |config: &RunConfig| method.recipe(config).is_ok());
        let wanted = match kind {
            Search::Random(number) | Search::Halving(number) => number as usize,
            _ if size > MOST => {
                let expected =
                    format!("a smaller one: {size} combinations, and {MOST} are the most; try `random:N`");
                return Err(TrainError::refused("search", kind, expected));
            }
            _ => usize::MAX,
        };
        let stream = Stream::new(seed, Purpose::Search, 0);
        let mut left: Vec<usize> = if size <= DRAWN_FROM { (0..size).collect() } else { Vec::new() };
        let mut found: Vec<(usize, RunConfig)> = Vec::new();
        let mut draw = 0;
        while found.len() < wanted && draw < DRAWN_FROM as u64 {
            let number = match kind {
                Search::Grid if left.is_empty() => break,
                Search::Grid => left.remove(0),
                _ if size > DRAWN_FROM => stream.below(draw, size as u64) as usize,
                _ if left.is_empty() => break,
                _ => left.swap_remove(stream.below(draw, left.len() as u64) as usize),
            };
            draw += 1;
            let config = self.config(number);
            if takes(&config) && found.iter().all(|(known, _)| *known != number) {
                found.push((number, config));
            }
        }
        found.sort_by_key(|(number, _)| *number);
        if found.is_empty() {
            return Err(TrainError::refused(
                "search",
                kind,
                "false: the method takes none of the combinations",
            ));
        }
        Ok(found.into_iter().map(|(_, config)| config).collect())
    }
}

/// Spaces up to this size are drawn from without putting back, and no more is drawn from larger ones.
const DRAWN_FROM: usize = 100_000;

/// The rounds of successive halving after the first, so that about η combinations get all of their epochs.
pub(crate) fn rounds(combinations: usize) -> u32 {
    combinations.max(1).ilog(ETA).saturating_sub(1)
}

/// How many go on after a round.
pub(crate) fn survivors(combinations: usize) -> usize {
    (combinations / ETA).max(1)
}

/// A combination with the share of its epochs that it gets when so many rounds are to come.
pub(crate) fn shortened(config: &RunConfig, rounds_to_come: u32) -> RunConfig {
    let share = ETA.pow(rounds_to_come) as u32;
    RunConfig { epochs: config.epochs.div_ceil(share).max(1), ..config.clone() }
}
