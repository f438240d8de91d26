//! Estimates of memory: sums and products that stop at the largest number instead of wrapping, so that no size overflows.

/// The bytes of an array of `T` with as many entries as the product of `counts`.
pub fn array<T>(counts: &[usize]) -> u64 {
    counts.iter().fold(size_of::<T>() as u64, |bytes, &count| bytes.saturating_mul(count as u64))
}

/// All of them together.
pub fn total(parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(0, u64::saturating_add)
}

/// The bytes of a [`Graph`](crate::Graph) of so many nodes and directed edges; `symmetric` ones know their twins.
pub fn graph(nodes: usize, edges: usize, symmetric: bool) -> u64 {
    let per_edge = if symmetric { 2 } else { 1 };
    total([array::<usize>(&[nodes.saturating_add(1)]), array::<u32>(&[edges, per_edge])])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_no_machine_has_are_the_largest_number() {
        assert_eq!(array::<f32>(&[3, 5]), 60);
        assert_eq!(array::<f32>(&[]), 4);
        assert_eq!(array::<f64>(&[usize::MAX, usize::MAX]), u64::MAX);
        assert_eq!(total([u64::MAX, 1, 2]), u64::MAX);
        assert_eq!(graph(2, 4, true), 24 + 32);
        assert_eq!(graph(usize::MAX, usize::MAX, false), u64::MAX);
    }
}
