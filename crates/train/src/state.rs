//! Numbers and values by name: what a run is brought back from, to the same bits.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::TrainError;

/// Numbers of one kind; cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Single precision.
    F32(Arc<[f32]>),
    /// Ids and counts.
    U32(Arc<[u32]>),
}

/// What something needs to go on later as if it had never stopped: long lists of numbers, and small values.
///
/// Parts put theirs under names of their own ([`State::put_part`]), so none has to know the others'.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    pub(crate) numbers: BTreeMap<String, Numbers>,
    pub(crate) values: BTreeMap<String, Value>,
}

impl State {
    /// Keeps numbers of single precision.
    pub fn put_floats(&mut self, name: &str, numbers: &[f32]) {
        self.numbers.insert(name.to_owned(), Numbers::F32(numbers.into()));
    }

    /// Keeps ids or counts.
    pub fn put_ids(&mut self, name: &str, numbers: &[u32]) {
        self.numbers.insert(name.to_owned(), Numbers::U32(numbers.into()));
    }

    /// Keeps a small value.
    ///
    /// # Errors
    /// JSON cannot write it.
    pub fn put_value(&mut self, name: &str, value: &impl Serialize) -> Result<(), TrainError> {
        let value = serde_json::to_value(value).map_err(|error| wrong(name, error.to_string()))?;
        self.values.insert(name.to_owned(), value);
        Ok(())
    }

    /// Keeps all of a part, whose names then begin with its own.
    pub fn put_part(&mut self, part: &str, state: State) {
        let named = |name: String| format!("{part}.{name}");
        self.numbers.extend(state.numbers.into_iter().map(|(name, numbers)| (named(name), numbers)));
        self.values.extend(state.values.into_iter().map(|(name, value)| (named(name), value)));
    }

    /// The numbers of that name, as many as are expected.
    ///
    /// # Errors
    /// There are none, or another number of them.
    pub fn floats(&self, name: &str, expected: usize) -> Result<&[f32], TrainError> {
        let numbers = self.all_floats(name)?;
        if numbers.len() == expected {
            return Ok(numbers);
        }
        Err(wrong(name, format!("has {} numbers, expected {expected}", numbers.len())))
    }

    /// The numbers of that name, however many they are.
    ///
    /// # Errors
    /// There are none.
    pub fn all_floats(&self, name: &str) -> Result<&[f32], TrainError> {
        match self.numbers.get(name) {
            Some(Numbers::F32(numbers)) => Ok(numbers),
            Some(Numbers::U32(_)) => Err(wrong(name, "has ids, expected numbers of single precision".into())),
            None => Err(wrong(name, "is not there".into())),
        }
    }

    /// The ids or counts of that name.
    ///
    /// # Errors
    /// There are none.
    pub fn ids(&self, name: &str) -> Result<&[u32], TrainError> {
        match self.numbers.get(name) {
            Some(Numbers::U32(numbers)) => Ok(numbers),
            Some(Numbers::F32(_)) => Err(wrong(name, "has numbers of single precision, expected ids".into())),
            None => Err(wrong(name, "is not there".into())),
        }
    }

    /// The value of that name.
    ///
    /// # Errors
    /// There is none, or one of another kind.
    pub fn value<T: DeserializeOwned>(&self, name: &str) -> Result<T, TrainError> {
        let value = self.values.get(name).ok_or_else(|| wrong(name, "is not there".into()))?;
        T::deserialize(value).map_err(|error| wrong(name, error.to_string()))
    }

    /// Whether numbers of that name are there.
    pub fn has(&self, name: &str) -> bool {
        self.numbers.contains_key(name)
    }

    /// What [`State::put_part`] kept of a part; nothing where it kept nothing.
    #[must_use]
    pub fn part(&self, part: &str) -> State {
        let prefix = format!("{part}.");
        let own = |name: &String| name.strip_prefix(&prefix).map(ToOwned::to_owned);
        State {
            numbers: self.numbers.iter().filter_map(|(name, n)| Some((own(name)?, n.clone()))).collect(),
            values: self.values.iter().filter_map(|(name, v)| Some((own(name)?, v.clone()))).collect(),
        }
    }
}

fn wrong(name: &str, reason: String) -> TrainError {
    TrainError::State { part: name.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_names_apart() {
        let mut of_one = State::default();
        of_one.put_floats("weights", &[1.0, -0.0]);
        of_one.put_value("steps", &0.1_f64).unwrap();
        let mut all = State::default();
        all.put_part("one", of_one.clone());
        all.put_floats("weights", &[2.0]);
        assert_eq!(all.part("one"), of_one);
        assert_eq!(all.floats("weights", 1).unwrap(), [2.0]);
        assert!(all.part("two").floats("weights", 1).is_err());
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        let mut state = State::default();
        state.put_ids("order", &[3, 1]);
        let error = state.floats("order", 2).unwrap_err().to_string();
        assert!(error.contains("`order`"), "{error}");
        assert!(state.value::<u32>("order").is_err());
        assert_eq!(state.ids("order").unwrap(), [3, 1]);
    }
}
