use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A slice that never changes: values of its own, or values that someone else keeps, as a file mapped into memory does.
pub struct Buffer<T>(Storage<T>);

enum Storage<T> {
    Owned(Vec<T>),
    Shared(Arc<dyn Keeper<T>>),
}

/// Who keeps values for others.
pub trait Keeper<T>: AsRef<[T]> + Send + Sync {
    /// The values will not be read for some time: gives their memory back, if they can come again from where they are.
    fn release_memory(&self) {}
}

impl<T: Send + Sync> Keeper<T> for Vec<T> {}

impl<T> Buffer<T> {
    /// The values that `owner` keeps. It must give the same slice at every call.
    pub fn shared(owner: Arc<dyn Keeper<T>>) -> Buffer<T> {
        Buffer(Storage::Shared(owner))
    }

    /// As [`Keeper::release_memory`]; values of its own stay.
    pub(crate) fn release_memory(&self) {
        if let Storage::Shared(owner) = &self.0 {
            owner.release_memory();
        }
    }
}

impl<T: Clone> Buffer<T> {
    /// The values as a vector of one's own; copied only when someone else keeps them.
    pub fn into_vec(self) -> Vec<T> {
        match self.0 {
            Storage::Owned(values) => values,
            Storage::Shared(owner) => (*owner).as_ref().to_vec(),
        }
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Storage::Owned(values) => values,
            Storage::Shared(owner) => (**owner).as_ref(),
        }
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(values: Vec<T>) -> Buffer<T> {
        Buffer(Storage::Owned(values))
    }
}

impl<T> FromIterator<T> for Buffer<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Buffer<T> {
        Vec::from_iter(values).into()
    }
}

impl<T: Clone> Clone for Buffer<T> {
    fn clone(&self) -> Buffer<T> {
        Buffer(match &self.0 {
            Storage::Owned(values) => Storage::Owned(values.clone()),
            Storage::Shared(owner) => Storage::Shared(Arc::clone(owner)),
        })
    }
}

impl<T: PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Buffer<T>) -> bool {
        self[..] == other[..]
    }
}

impl<T: Eq> Eq for Buffer<T> {}

impl<T: fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owned_and_shared_values_are_the_same_values() {
        let owned = Buffer::from(vec![1_u32, 2, 3]);
        let shared = Buffer::shared(Arc::new(vec![1_u32, 2, 3]));
        assert_eq!(owned, shared);
        assert_eq!(shared.clone().into_vec(), owned.clone().into_vec());
        assert_eq!(format!("{owned:?}"), format!("{shared:?}"));
        assert_ne!(shared, Buffer::from(vec![1, 2]));
    }
}
