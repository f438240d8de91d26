//! Adam (Kingma and Ba, 2015), with coupled or decoupled weight decay.

use crate::error::NnError;
use crate::meter::KernelKind;
use crate::real::Real;
use crate::simd::with_simd;
use crate::threads::Threads;
use edgepace_graph::Refusal;

/// How weights are pulled to zero.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Decay {
    /// Not at all.
    #[default]
    None,
    /// The gradient of rate/2 · ‖θ‖² joins the loss's.
    Coupled(f64),
    /// θ shrinks by step size · rate beside the step (`AdamW`: Loshchilov and Hutter, 2019).
    Decoupled(f64),
}

/// Settings of [`Adam`]. The defaults are the usual ones with the step size 0.01 of the paper's experiments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamConfig {
    /// Step size, above 0.
    pub rate: f64,
    /// Memory of the mean gradient, in [0, 1).
    pub beta1: f64,
    /// Memory of the mean squared gradient, in [0, 1).
    pub beta2: f64,
    /// Added to the denominator, above 0.
    pub epsilon: f64,
    /// Weight decay.
    pub decay: Decay,
    /// How many of the parameters decay, the first ones; none: all.
    pub decaying: Option<usize>,
}

impl Default for AdamConfig {
    fn default() -> Self {
        Self { rate: 1e-2, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decay: Decay::None, decaying: None }
    }
}

impl AdamConfig {
    /// Checks the settings as numbers of the type that computes with them.
    fn check<T: Real>(&self) -> Result<(), NnError> {
        let rounded = |x: f64| Into::<f64>::into(T::of(x));
        let positive = |x: f64| rounded(x) > 0.0 && rounded(x).is_finite();
        let refuse = |field: &'static str, found: f64, expected: &'static str| {
            Err(Refusal::new(field, found, expected).into())
        };
        if !positive(self.rate) {
            return refuse("rate", self.rate, "a finite number above 0 in the precision of the model");
        }
        for (field, beta) in [("beta1", self.beta1), ("beta2", self.beta2)] {
            if !(0.0..1.0).contains(&beta) {
                return refuse(field, beta, "in [0, 1)");
            }
        }
        if !positive(self.epsilon) {
            return refuse("epsilon", self.epsilon, "a finite number above 0 in the precision of the model");
        }
        match self.decay {
            Decay::Coupled(rate) | Decay::Decoupled(rate) if !(rate >= 0.0 && rounded(rate).is_finite()) => {
                refuse("decay", rate, "a finite number, not negative")
            }
            _ => Ok(()),
        }
    }
}

/// The optimiser's memory for one model.
#[derive(Clone, Debug)]
pub struct Adam<T> {
    config: AdamConfig,
    steps: i32,
    /// (mean gradient, mean squared gradient) per parameter, side by side: one stream of memory.
    moments: Vec<[T; 2]>,
}

/// Parameters that one thread takes at a time.
const BLOCK: usize = 8192;

impl<T: Real> Adam<T> {
    /// An optimiser for `parameters` numbers.
    ///
    /// # Errors
    /// A setting is out of its range.
    pub fn new(config: AdamConfig, parameters: usize) -> Result<Self, NnError> {
        config.check::<T>()?;
        Ok(Self { config, steps: 0, moments: vec![[T::ZERO; 2]; parameters] })
    }

    /// Another weight decay from the next step on.
    pub fn set_decay(&mut self, decay: Decay) {
        self.config.decay = decay;
    }

    /// All that it remembers: the steps that it has made, and the mean and the mean square of each parameter's gradient.
    pub fn memory(&self) -> (i32, &[[T; 2]]) {
        (self.steps, &self.moments)
    }

    /// Makes it remember what [`Adam::memory`] gave: it goes on from there to the same bits.
    ///
    /// # Errors
    /// Moments of another number of parameters, or steps below 0.
    pub fn set_memory(&mut self, steps: i32, moments: &[[T; 2]]) -> Result<(), NnError> {
        self.fits(moments.len())?;
        if steps < 0 {
            let expected = "at least 0";
            return Err(Refusal::new("steps", steps, expected).into());
        }
        self.steps = steps;
        self.moments.copy_from_slice(moments);
        Ok(())
    }

    /// Whether it was made for so many parameters.
    pub(crate) fn fits(&self, parameters: usize) -> Result<(), NnError> {
        if self.moments.len() == parameters {
            return Ok(());
        }
        Err(Refusal::size("optimiser", self.moments.len(), parameters, "the parameters of the model").into())
    }

    /// θ ← θ − rate · m̂ / (√v̂ + ε), with bias-corrected moments m̂, v̂ (the correction in `f64`).
    pub(crate) fn step(&mut self, threads: &Threads, values: &mut [T], gradient: &[T]) {
        let AdamConfig { rate, beta1, beta2, epsilon, decay, decaying } = self.config;
        let _span = threads.span(KernelKind::Adam, 12 * values.len(), 7 * std::mem::size_of_val(values));
        self.steps += 1;
        let step = T::of(rate / (1.0 - beta1.powi(self.steps)));
        let correction = T::of(1.0 / (1.0 - beta2.powi(self.steps)).sqrt());
        let (b1, b2, c1, c2) = (T::of(beta1), T::of(beta2), T::of(1.0 - beta1), T::of(1.0 - beta2));
        let epsilon = T::of(epsilon);
        let (pull, shrink) = match decay {
            Decay::None => (T::ZERO, T::ONE),
            Decay::Coupled(decay) => (T::of(decay), T::ONE),
            Decay::Decoupled(decay) => (T::ZERO, T::of(1.0 - rate * decay)),
        };
        let decaying = decaying.unwrap_or(values.len());
        threads.rows_of_two((values, 1), (&mut self.moments, 1), BLOCK, |first, values, moments| {
            let gradient = &gradient[first..][..values.len()];
            let end = decaying.saturating_sub(first).min(values.len());
            let (decaying, free) = values.split_at_mut(end);
            let (of_decaying, of_free) = moments.split_at_mut(end);
            let (towards, away) = gradient.split_at(end);
            for (values, moments, gradient, pull, shrink) in
                [(decaying, of_decaying, towards, pull, shrink), (free, of_free, away, T::ZERO, T::ONE)]
            {
                with_simd(
                    #[inline(always)]
                    || {
                        for ((value, [m, v]), &g) in values.iter_mut().zip(moments).zip(gradient) {
                            let g = pull.mul_add(*value, g);
                            *m = b1.mul_add(*m, c1 * g);
                            *v = b2.mul_add(*v, c2 * g * g);
                            *value = *value * shrink - step * *m / (v.sqrt() * correction + epsilon);
                        }
                    },
                );
            }
        });
    }
}

#[cfg(test)]
mod tests;
