//! Loads a graph, trains on it, and ranks its edges by suspicion.

use edgepace::{Audit, Cache, EdgeTable, Event, Material, Run, RunConfig, Shelf, Threads};
use edgepace::{load, splits};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A graph that is made here; `cora` after `edgepace data get cora`, or `my.graph`, would do as well.
    let threads = Threads::new(2)?;
    let name = "synthetic:homophily=0.3,nodes=300,edges=1800";
    let dataset = load(&threads, name, &Cache::from_env()?)?;
    let split = splits::make(&threads, &"fraction:0.5:0.25".parse()?, &dataset, 0)?;

    // The run never sees the labels of test nodes: they are the judge's.
    let (material, judge) = Material::new(&dataset, &split)?;
    let config = RunConfig { epochs: 60, ..RunConfig::default() };
    let spec = config.check()?.spec(&material, 0)?;
    let shelf = Shelf::new();

    let mut run = Run::start(spec.clone(), &material, &shelf, &threads)?;
    while let Some(events) = run.advance()? {
        if let Some(Event::Epoch { epoch, loss, edges, .. }) = events.last() {
            println!("epoch {epoch}: loss {loss:.3} on {edges} edges");
        }
        // A run can be saved after any epoch, and what goes on from there comes to the same bits.
        if run.progress().0 == 30 {
            let state = run.save()?;
            run = Run::resume(spec.clone(), &material, &shelf, &threads, &state)?;
        }
    }
    let finished = run.finish(&judge, None)?;
    println!("test accuracy: {:.1} %", finished.record.result.test.ok_or("no test nodes")?);

    // Which edges have least to support them?
    let report = finished.edges.as_ref().ok_or("the method says nothing about edges")?;
    let audit = Audit::new(&threads, &dataset, report)?;
    let table = EdgeTable::new(&dataset, report, &finished.snapshot.logits, &audit);
    for row in table.rows().take(5) {
        println!("{} – {}: suspicion {:.2}", row.source, row.target, row.suspicion);
    }
    Ok(())
}
