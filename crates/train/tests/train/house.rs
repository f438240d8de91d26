//! The modules of the crate form a line: each uses those above it alone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// From what knows nothing to what knows all.
const LINE: [&str; 46] = [
    "error",
    "event",
    "warning",
    "linalg",
    "loss",
    "memory",
    "word_counts",
    "prepare",
    "search_kind",
    "setting",
    "features_from",
    "ground",
    "config",
    "candidates",
    "material",
    "advice",
    "state",
    "snapshot",
    "compare",
    "audit",
    "scoring",
    "calibration",
    "pool",
    "learner",
    "restart",
    "window",
    "dropping",
    "network",
    "methods",
    "registry",
    "search",
    "space",
    "spec",
    "fit",
    "trained",
    "shelf",
    "choose",
    "record",
    "run",
    "tensor_file",
    "checkpoint",
    "model_file",
    "predict",
    "table_file",
    "edge_table",
    "lib",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn no_module_uses_one_below_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let place = |module: &str| {
        LINE.iter().position(|&name| name == module).unwrap_or_else(|| panic!("{module} is not in the line"))
    };
    let mut seen = BTreeSet::new();
    for file in files {
        let below = file.strip_prefix(&root).unwrap();
        let own = below.iter().next().unwrap().to_string_lossy().trim_end_matches(".rs").to_owned();
        seen.insert(own.clone());
        let text = std::fs::read_to_string(&file).unwrap();
        // Tests may look everywhere.
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for part in code.split("crate::").skip(1) {
            let used: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            // Names of the crate's root stand in documentation.
            if used.starts_with(char::is_uppercase) {
                continue;
            }
            assert!(place(&used) <= place(&own), "{} uses {used}, which stands below it", file.display());
        }
    }
    let all: BTreeSet<String> = LINE.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(seen, all, "every module has its place");
}
