//! `edgepace data get` and `edgepace data path`

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use edgepace_data::Source;
use serde_json::json;

use crate::dataset::{DataFolder, budget, source};
use crate::messages;
use crate::table::say;

#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Names of datasets
    #[arg(required = true)]
    names: Vec<String>,
}

pub(crate) fn run(args: &Args, data_folder: &DataFolder) -> Result<ExitCode> {
    let (cache, threads) = (data_folder.cache()?, budget(None)?);
    let mut got = Vec::new();
    for name in &args.names {
        let Source::Set(set) = source(name)? else {
            bail!("`{name}` is made or read where it is: there is nothing to fetch");
        };
        let outcome = data_folder.fetch(set, &cache)?;
        // What cannot be read is no use: better known now than later.
        Source::Set(set)
            .load(&threads, &cache)
            .with_context(|| format!("{name} was fetched, but cannot be read"))?;
        let path = cache.path_of(set);
        if messages::json() {
            let fetched = outcome
                .fetched
                .iter()
                .map(|file| json!({ "path": file.path, "bytes": file.bytes, "mirror": file.mirror }));
            got.push(json!({ "name": set.name, "path": path, "fetched": fetched.collect::<Vec<_>>() }));
            continue;
        }
        for file in &outcome.fetched {
            let from = if file.mirror.is_empty() { "an earlier try" } else { &file.mirror[..] };
            say(&format!("fetched {} ({} bytes) from {from}", file.path.display(), file.bytes))?;
        }
        say(&format!("{name} is at {}", path.display()))?;
    }
    if messages::json() {
        say(&json!(got).to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(ClapArgs)]
pub(crate) struct PathArgs {
    /// A dataset; without one the folder of all
    name: Option<String>,
}

pub(crate) fn path(args: &PathArgs, data_folder: &DataFolder) -> Result<ExitCode> {
    let cache = data_folder.cache()?;
    let path = match args.name.as_deref().map(source).transpose()? {
        None => cache.root().to_owned(),
        Some(Source::Set(set)) => cache.path_of(set),
        Some(Source::File(file)) => file,
        Some(Source::Generator(generator)) => bail!("`{generator}` is made anew each time: it has no path"),
    };
    if messages::json() {
        say(&json!({ "path": path }).to_string())?;
    } else {
        say(&path.display().to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}
