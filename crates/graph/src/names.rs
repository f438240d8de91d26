use crate::Buffer;

/// Names of nodes, classes or features: many strings in two slices, so that a graph of millions of named nodes costs little and can
/// be mapped from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// One more than names; name `i` is `bytes[offsets[i]..offsets[i + 1]]`.
    offsets: Buffer<u64>,
    bytes: Buffer<u8>,
}

impl Names {
    /// The given names, in order.
    pub fn new<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Names {
        let (mut offsets, mut bytes) = (vec![0], Vec::new());
        for name in names {
            bytes.extend_from_slice(name.as_ref().as_bytes());
            offsets.push(bytes.len() as u64);
        }
        Names { offsets: offsets.into(), bytes: bytes.into() }
    }

    /// Names kept elsewhere, by [`offsets`](Names::offsets) and [`bytes`](Names::bytes). Nothing is checked: what does not
    /// fit together reads as an empty name.
    pub fn trusted(offsets: impl Into<Buffer<u64>>, bytes: impl Into<Buffer<u8>>) -> Names {
        Names { offsets: offsets.into(), bytes: bytes.into() }
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name at `position`; empty beyond the last.
    pub fn get(&self, position: usize) -> &str {
        let bounds = self.offsets.get(position).zip(self.offsets.get(position + 1));
        let bytes = bounds.and_then(|(&start, &end)| self.bytes.get(start as usize..end as usize));
        bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// All names, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|position| self.get(position))
    }

    /// Where each name starts in [`bytes`](Names::bytes), and where the last one ends.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// All names, one after the other without a gap, in UTF-8.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_they_were_given() {
        let names = Names::new(["α", "", "Case_Based"]);
        assert_eq!(names.iter().collect::<Vec<_>>(), ["α", "", "Case_Based"]);
        assert_eq!((names.len(), names.get(3)), (3, ""));
        assert!(Names::new([""; 0]).is_empty());
    }

    #[test]
    fn what_does_not_fit_reads_as_an_empty_name() {
        let names = Names::trusted(vec![0, 9, 2], vec![0xff, 0xfe]);
        assert_eq!(names.iter().collect::<Vec<_>>(), ["", ""]);
        assert!(Names::trusted(vec![], vec![]).is_empty());
    }
}
