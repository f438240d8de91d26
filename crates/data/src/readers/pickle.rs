//! Python pickles, read as data and never executed.
//!
//! A pickle is a program for a small stack machine that may call any Python function. This reader runs the instructions
//! that hold data (protocols 0 to 5) and knows a short list of Python names by what they mean: numpy arrays of numbers,
//! scipy CSR matrices, `defaultdict(list)` and what they are packed in. Any other name is refused.
//!
//! Objects live in one list and refer to each other by position, so that a value that a pickle repeats a million times
//! is stored once, a cycle is just a position, and nothing is ever visited recursively. Arrays stay bytes of the file
//! until one of the conversions in `convert.rs` asks for their numbers. Memory is thus bounded by a constant times the
//! size of the file, and time by its size.

mod array;
mod convert;
mod globals;
mod machine;
#[cfg(test)]
mod tests;
mod text;

use std::borrow::Cow;
use std::path::Path;

use crate::DataError;
use crate::error::{Place, format_error};
use array::{Array, Dtype};
pub(crate) use convert::Matrix;
use globals::Global;
use machine::Machine;

/// What a pickle holds.
#[derive(Debug)]
pub(crate) struct Pickle<'a> {
    file: &'a Path,
    /// Size of the file in bytes.
    size: usize,
    heap: Heap<'a>,
    root: Value,
}

/// A value, small enough to be copied.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Global(Global),
    Object(Id),
}

/// The position of an object on the heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Id(u32);

/// A value that others refer to, and that instructions may change after it was made.
#[derive(Debug)]
enum Object<'a> {
    Bytes(Cow<'a, [u8]>),
    /// UTF-8, not checked before it matters.
    Text(Cow<'a, [u8]>),
    /// Bytes that are the characters of a text, as Python 3 writes them for Python 2. Decoded when asked for: a text
    /// may be named again and again.
    Latin(Id),
    Tuple(Vec<Value>),
    List(Vec<Value>),
    Dict(Vec<(Value, Value)>),
    Dtype(Dtype),
    /// Before and after its content is known.
    Array(Option<Box<Array>>),
    /// A scipy CSR matrix by its attributes, a dictionary.
    Csr(Option<Id>),
}

/// All objects, each with the byte of the file that made it.
#[derive(Debug, Default)]
struct Heap<'a>(Vec<(usize, Object<'a>)>);

impl<'a> Pickle<'a> {
    /// Reads the whole of `bytes`, the content of `file`.
    pub(crate) fn read(file: &'a Path, bytes: &'a [u8]) -> Result<Pickle<'a>, DataError> {
        Machine::new(file, bytes).run()
    }

    /// The error that `value` is not what a conversion asks for.
    fn unexpected(&self, value: Value, expected: &str) -> DataError {
        let place = match value {
            Value::Object(id) => Place::Byte(self.heap.place(id) as u64),
            _ => Place::Whole,
        };
        format_error(self.file, place, expected, self.heap.describe(value))
    }
}

impl<'a> Heap<'a> {
    fn get(&self, id: Id) -> &Object<'a> {
        &self.0[id.0 as usize].1
    }

    fn get_mut(&mut self, id: Id) -> &mut Object<'a> {
        &mut self.0[id.0 as usize].1
    }

    fn place(&self, id: Id) -> usize {
        self.0[id.0 as usize].0
    }

    /// The bytes of a text or of a byte string, which Python 2 used for both.
    fn name(&self, value: Value) -> Option<&[u8]> {
        match value {
            Value::Object(id) => match self.get(id) {
                Object::Bytes(bytes) | Object::Text(bytes) => Some(bytes),
                _ => None,
            },
            _ => None,
        }
    }

    fn tuple(&self, value: Value) -> Option<&[Value]> {
        match value {
            Value::Object(id) => match self.get(id) {
                Object::Tuple(items) => Some(items),
                _ => None,
            },
            _ => None,
        }
    }

    /// The content of a byte string.
    fn bytes(&self, id: Id) -> Option<Cow<'_, [u8]>> {
        match self.get(id) {
            Object::Bytes(bytes) => Some(Cow::Borrowed(bytes)),
            Object::Latin(of) => match self.get(*of) {
                Object::Text(text) => text::to_latin1(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// A few words for an error message.
    fn describe(&self, value: Value) -> String {
        let object = match value {
            Value::None => return "None".into(),
            Value::Bool(truth) => return if truth { "True" } else { "False" }.into(),
            Value::Int(number) => return number.to_string(),
            Value::Float(number) => return number.to_string(),
            Value::Global(global) => return format!("the Python name `{}`", global.name()),
            Value::Object(id) => self.get(id),
        };
        match object {
            Object::Bytes(bytes) | Object::Text(bytes) => format!("the text `{}`", text::excerpt(bytes)),
            Object::Latin(_) => "a byte string".into(),
            Object::Tuple(items) => format!("a tuple of {}", items.len()),
            Object::List(items) => format!("a list of {}", items.len()),
            Object::Dict(items) => format!("a dictionary of {}", items.len()),
            Object::Dtype(dtype) => format!("the type {dtype}"),
            Object::Array(None) => "an array without content".into(),
            Object::Array(Some(array)) => format!("an array of {}", array.dtype),
            Object::Csr(_) => "a scipy CSR matrix".into(),
        }
    }
}
