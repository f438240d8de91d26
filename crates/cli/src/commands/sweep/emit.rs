//! `edgepace sweep --emit`: a sweep as a script, for machines that share a folder but no store.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use edgepace_lab::Experiment;

use super::{Args, comma_separated};

/// What a script is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Script {
    /// An array job of Slurm
    Slurm,
    /// A shell script that takes the number of a part
    Shell,
}

/// The script that does an experiment in parts. Each part has a store of its own, which one process writes; what comes back is
/// imported.
pub(super) fn script(kind: Script, args: &Args, plan: &Path, experiment: &Experiment) -> Result<String> {
    let parts = args.elsewhere.parts.min(experiment.most_parts());
    let absolute = |path: &Path| {
        std::path::absolute(path).with_context(|| format!("cannot tell where {} is", path.display()))
    };
    let (plan, store) = (absolute(plan)?, absolute(&args.store)?);
    let folder = {
        let mut folder = store.clone().into_os_string();
        folder.push(".parts");
        quoted(Path::new(&folder))?
    };
    // As many as there are here means nothing there.
    let threads = args.work.threads.unwrap_or(1);
    let mut flags = format!("--jobs {} --threads {threads}", args.work.jobs);
    if let Some(seeds) = &args.seeds {
        let _ = write!(flags, " --seeds {}", comma_separated(seeds));
    }
    if let Some(data) = args.data_folder.folder() {
        let _ = write!(flags, " --data {}", quoted(&absolute(data)?)?);
    }
    for (is_set, flag) in [(args.retry, " --retry"), (args.data_folder.is_offline(), " --offline")] {
        flags += if is_set { flag } else { "" };
    }
    let cores = args.work.jobs * threads;
    let name: String = experiment
        .name
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
        .collect();
    let (submit, header, of_part) = match kind {
        Script::Slurm => (
            "Submit it with `sbatch`".to_owned(),
            format!(
                "#SBATCH --job-name={name}\n#SBATCH --array=1-{parts}\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task={cores}\n\
                 #SBATCH --requeue\n"
            ),
            "\"${SLURM_ARRAY_TASK_ID:?is not set: submit this with sbatch}\"".to_owned(),
        ),
        Script::Shell => (
            format!(
                "`sh FILE 3` does part 3 of {parts}, on any machine that has this folder; `sh FILE` does all"
            ),
            String::new(),
            format!("${{1:-$(seq {parts})}}"),
        ),
    };
    Ok(format!(
        "#!/bin/sh\n\
         # {name}: {runs} runs in {parts} parts. {submit}. A part that was\n\
         # stopped goes on where it was when it is started again. What is over, now or at the end:\n\
         #   edgepace runs import --store {store} {folder}/*.jsonl\n\
         {header}\
         edgepace=\"${{EDGEPACE:-edgepace}}\"\n\
         mkdir -p {folder} || exit 2\n\
         worst=0\n\
         for part in {of_part}; do\n\
         \x20   \"$edgepace\" sweep {plan} --part \"$part/{parts}\" --store {folder}/\"$part.sqlite\" {flags}\n\
         \x20   code=$?\n\
         \x20   [ \"$code\" -le \"$worst\" ] || worst=$code\n\
         \x20   \"$edgepace\" runs export {folder}/\"$part.jsonl\" --store {folder}/\"$part.sqlite\" --overwrite || worst=2\n\
         done\n\
         exit \"$worst\"\n",
        runs = experiment.runs(),
        store = quoted(&store)?,
        plan = quoted(&plan)?,
    ))
}

/// A path as the shell reads it.
fn quoted(path: &Path) -> Result<String> {
    let Some(text) = path.to_str().filter(|text| !text.contains(['\n', '\r', '\0'])) else {
        bail!("{} cannot be written into a script: rename it", path.display());
    };
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+=:,@".contains(letter);
    Ok(if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_to_the_shell() {
        assert_eq!(quoted(Path::new("/a/b-1.toml")).ok().as_deref(), Some("/a/b-1.toml"));
        assert_eq!(quoted(Path::new("/it's $HOME")).ok().as_deref(), Some(r"'/it'\''s $HOME'"));
        assert!(quoted(Path::new("/a\nb")).is_err());
    }
}
