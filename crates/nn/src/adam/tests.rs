//! Five steps against PyTorch 2.15, in `f64`:
//! ```python
//! import torch
//! torch.set_default_dtype(torch.float64)
//! def run(optimiser):
//!     p = torch.nn.Parameter(torch.tensor([1.0, -0.5, 0.25, 0.0]))
//!     steps = optimiser([p])
//!     for t in range(1, 6):
//!         p.grad = torch.tensor([0.3 * t, -1.0, 0.001, (-1.0) ** t])
//!         steps.step()
//!     print(p.tolist())
//! run(lambda p: torch.optim.Adam(p, lr=0.01))
//! run(lambda p: torch.optim.Adam(p, lr=0.01, weight_decay=0.1))
//! run(lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.1))
//! ```

use super::*;

fn after_five_steps<T: Real>(decay: Decay) -> [f64; 4] {
    let threads = Threads::new(1).unwrap();
    let mut adam = Adam::<T>::new(AdamConfig { decay, ..AdamConfig::default() }, 4).unwrap();
    let mut values = [1.0, -0.5, 0.25, 0.0].map(T::of);
    for t in 1..=5 {
        let gradient = [0.3 * f64::from(t), -1.0, 0.001, (-1.0_f64).powi(t)].map(T::of);
        adam.step(&threads, &mut values, &gradient);
    }
    values.map(Into::into)
}

fn assert_steps(decay: Decay, expected: [f64; 4]) {
    for (i, expected) in expected.into_iter().enumerate() {
        let wide = after_five_steps::<f64>(decay)[i];
        assert!((wide - expected).abs() < 1e-14, "{decay:?}, number {i}: {wide} instead of {expected}");
        let narrow = after_five_steps::<f32>(decay)[i];
        assert!((narrow - expected).abs() < 1e-6, "{decay:?}, number {i} in f32: {narrow}");
    }
}

#[test]
fn adam_without_decay_steps_like_pytorch() {
    let expected = [
        0.951_491_691_376_464_6,
        -0.450_000_000_500_000_1,
        0.200_000_499_995_000_2,
        0.014_349_452_182_893_269,
    ];
    assert_steps(Decay::None, expected);
}

#[test]
fn coupled_decay_steps_like_adam_of_pytorch() {
    let expected = [
        0.950_980_629_521_968_2,
        -0.450_004_151_859_988_3,
        0.200_211_919_870_406_15,
        0.014_319_684_264_844_578,
    ];
    assert_steps(Decay::Coupled(0.1), expected);
}

#[test]
fn decoupled_decay_steps_like_adamw_of_pytorch() {
    let expected = [
        0.946_599_302_481_228_1,
        -0.447_604_895_551_490_63,
        0.198_852_896_547_249_44,
        0.014_304_903_318_860_506,
    ];
    assert_steps(Decay::Decoupled(0.1), expected);
}

#[test]
fn parameters_that_do_not_decay_step_as_without_decay() {
    let threads = Threads::new(1).unwrap();
    let stepped = |decay, decaying| {
        let config = AdamConfig { decay, decaying, ..AdamConfig::default() };
        let mut adam = Adam::<f64>::new(config, 4).unwrap();
        let mut values = [1.0, -0.5, 0.25, 0.5];
        for _ in 0..3 {
            adam.step(&threads, &mut values, &[0.1, 0.2, -0.3, 0.4]);
        }
        values
    };
    for decay in [Decay::Coupled(0.5), Decay::Decoupled(0.5)] {
        let (all, some, none) = (stepped(decay, None), stepped(decay, Some(2)), stepped(Decay::None, None));
        assert_eq!(some[..2], all[..2]);
        assert_eq!(some[2..], none[2..]);
        assert_ne!(all[2..], none[2..]);
    }
}
