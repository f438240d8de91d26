//! A measurement as a person reads it.

use std::fmt::Write;

use crate::machine::Machine;
use crate::measure::Measurement;

/// The machine in a line.
pub(crate) fn machine(machine: &Machine, threads: usize) -> String {
    format!(
        "machine   {threads} thread{}, reads {:.1} GB/s, multiplies matrices at {:.0} Gflop/s",
        if threads == 1 { "" } else { "s" },
        machine.bandwidth * 1e-9,
        machine.gemm * 1e-9,
    )
}

/// Column heads of [`row`].
pub(crate) fn head() -> String {
    format!(
        "{:<13} {:<5} {:>9} {:>11} {:>10} {:>10} {:>10} {:>12} {:>9} {:>9}",
        "shape",
        "model",
        "nodes",
        "edges",
        "train ms",
        "eval ms",
        "epoch ms",
        "roofline ms",
        "distance",
        "peak MB"
    )
}

/// A measurement in a line.
pub(crate) fn row(m: &Measurement) -> String {
    let peak = m.peak_bytes.map_or_else(|| "–".into(), |bytes| format!("{:.0}", bytes as f64 / 1e6));
    format!(
        "{:<13} {:<5} {:>9} {:>11} {:>10} {:>10} {:>10} {:>12} {:>8.2}× {:>9}",
        m.shape,
        m.backbone,
        m.nodes,
        m.edges,
        ms(m.train_ms),
        ms(m.eval_ms),
        ms(m.epoch_ms),
        ms(m.roofline_ms),
        m.distance,
        peak,
    )
}

/// Where the time of an epoch goes.
pub(crate) fn kernels(m: &Measurement) -> String {
    let mut table = format!(
        "  {:<18} {:>6} {:>10} {:>12} {:>9} {:>9} {:>9}\n",
        "kernel", "calls", "ms", "roofline ms", "distance", "GB/s", "Gflop/s"
    );
    for k in &m.kernels {
        let seconds = k.ms * 1e-3;
        let _ = writeln!(
            table,
            "  {:<18} {:>6.1} {:>10} {:>12} {:>8.2}× {:>9.1} {:>9.1}",
            k.kernel,
            k.calls,
            ms(k.ms),
            ms(k.roofline_ms),
            k.ms / k.roofline_ms,
            k.gigabytes / seconds,
            k.gigaflops / seconds,
        );
    }
    if let Some(rate) = m.propagated_edges_per_second {
        let _ = writeln!(table, "  {:.0} million edges per second in a propagation", rate * 1e-6);
    }
    table
}

/// Milliseconds with three digits that matter.
fn ms(x: f64) -> String {
    match x {
        x if x < 10.0 => format!("{x:.3}"),
        x if x < 100.0 => format!("{x:.2}"),
        x if x < 1000.0 => format!("{x:.1}"),
        x => format!("{x:.0}"),
    }
}
