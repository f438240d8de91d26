//! Which name was meant.

/// The shortest name to take for a part of a longer one.
const SHORTEST_PART: usize = 4;

/// The name that is nearest to one that is not there, or that has it as a part, if any is near enough to be meant. Capitals
/// and `_` for `-` do not matter. Of names as near the first counts.
///
/// ```
/// use edgepace_graph::nearest;
///
/// assert_eq!(nearest("coar", ["citeseer", "cora"]), Some("cora"));
/// assert_eq!(nearest("something else", ["citeseer", "cora"]), None);
/// ```
pub fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let names: Vec<&str> = names.into_iter().collect();
    let longest = names.iter().map(|name| name.len()).max()?;
    if name.is_empty() || name.len() > 2 * longest {
        return None;
    }
    let name = plain(name);
    let letters = name.chars().count();
    // Letters to put in, take out, change or swap with their neighbour.
    let away = |other: &&&str| strsim::osa_distance(&name, &plain(other));
    let closest = names.iter().min_by_key(away)?;
    let distance = away(&closest);
    if distance <= 1 + letters / 4 && distance < letters {
        return Some(closest);
    }
    let part = |other: &&&str| name.len() >= SHORTEST_PART && plain(other).contains(&name);
    names.iter().find(part).copied()
}

fn plain(name: &str) -> String {
    name.trim().to_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_known_and_another_word_is_not() {
        let names = ["rcl", "vanilla", "weight_decay", "pro-gnn-sparse", "a"];
        for (slip, meant) in [
            ("rlc", Some("rcl")),
            ("Vanila", Some("vanilla")),
            ("weight-decay", Some("weight_decay")),
            ("wieght_decay", Some("weight_decay")),
            ("sparse", Some("pro-gnn-sparse")),
            ("magic", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(slip, names), meant, "{slip}");
        }
        assert_eq!(nearest("a", []), None);
    }
}
