//! The Python names that a pickle may use, and what they make.

use super::array::{Array, Dtype};
use super::machine::Machine;
use super::{Id, Object, Value};
use crate::DataError;

/// A Python name by its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Global {
    /// Makes an empty array, which takes its content as a state.
    Reconstruct,
    /// Makes an array from its content (protocol 5).
    FromBuffer,
    /// Makes a single number.
    Scalar,
    Array,
    Dtype,
    Csr,
    DefaultDict,
    List,
    Object,
    /// Makes an empty object of a class (protocols 0 and 1).
    Reconstructor,
    /// Makes bytes from text (Python 3, protocols 0 to 2).
    Encode,
    Bytes,
}

impl Global {
    /// All names, with the modules where Python 2 and 3 and old and new numpy and scipy have them.
    const ALL: [(Global, &str, &[&str]); 13] = [
        (Global::Reconstruct, "_reconstruct", &["numpy.core.multiarray", "numpy._core.multiarray"]),
        (Global::FromBuffer, "_frombuffer", &["numpy.core.numeric", "numpy._core.numeric"]),
        (Global::Scalar, "scalar", &["numpy.core.multiarray", "numpy._core.multiarray"]),
        (Global::Array, "ndarray", &["numpy"]),
        (Global::Dtype, "dtype", &["numpy"]),
        (Global::Csr, "csr_matrix", &["scipy.sparse.csr", "scipy.sparse._csr", "scipy.sparse"]),
        (Global::Csr, "csr_array", &["scipy.sparse._csr", "scipy.sparse"]),
        (Global::DefaultDict, "defaultdict", &["collections"]),
        (Global::List, "list", &["__builtin__", "builtins"]),
        (Global::Object, "object", &["__builtin__", "builtins"]),
        (Global::Reconstructor, "_reconstructor", &["copy_reg", "copyreg"]),
        (Global::Encode, "encode", &["_codecs"]),
        (Global::Bytes, "bytes", &["__builtin__", "builtins"]),
    ];

    pub(super) fn find(module: &[u8], name: &[u8]) -> Option<Global> {
        let known = |(_, own, modules): &&(Global, &str, &[&str])| {
            own.as_bytes() == name && modules.iter().any(|own| own.as_bytes() == module)
        };
        Global::ALL.iter().find(known).map(|(global, ..)| *global)
    }

    pub(super) fn name(self) -> &'static str {
        Global::ALL.iter().find(|(global, ..)| *global == self).map_or("", |(_, name, _)| name)
    }
}

impl Machine<'_> {
    /// What a call of `function` with `arguments` makes. Takes constant time, because both may be named again and again.
    pub(super) fn call(&mut self, function: Value, arguments: Value) -> Result<Value, DataError> {
        let Value::Global(function) = function else {
            return Err(self.refuse("a function to call", self.heap.describe(function)));
        };
        let Some(items) = self.heap.tuple(arguments) else {
            return Err(self.refuse("a tuple of arguments", self.heap.describe(arguments)));
        };
        let object = match (function, items) {
            (Global::Reconstruct, [Value::Global(Global::Array), _, _]) => Some(Object::Array(None)),
            (
                Global::Reconstructor,
                [Value::Global(Global::Csr), Value::Global(Global::Object), Value::None],
            ) => Some(Object::Csr(None)),
            (Global::DefaultDict, [] | [Value::Global(Global::List)]) => Some(Object::Dict(Vec::new())),
            (Global::List, []) => Some(Object::List(Vec::new())),
            (Global::Bytes, []) => Some(Object::Bytes([].as_slice().into())),
            (Global::Encode, &[Value::Object(text), encoding]) => match self.heap.name(encoding) {
                Some(b"latin1") if matches!(self.heap.get(text), Object::Text(_)) => {
                    Some(Object::Latin(text))
                }
                _ => None,
            },
            (Global::Dtype, [name] | [name, _, _]) => {
                let Some(dtype) = self.heap.name(*name).and_then(Dtype::named) else {
                    return Err(self.refuse(Dtype::EXPECTED, self.heap.describe(*name)));
                };
                Some(Object::Dtype(dtype))
            }
            (Global::FromBuffer, &[data, dtype, shape, order]) => {
                let by_column = self.heap.name(order) == Some(b"F");
                let array = Array::new(&self.heap, shape, dtype, by_column, data);
                array.map(|array| Object::Array(Some(Box::new(array))))
            }
            (Global::Scalar, &[Value::Object(dtype), Value::Object(data)]) => {
                if let Some(number) = self.scalar(dtype, data) {
                    return Ok(number);
                }
                None
            }
            _ => None,
        };
        if let Some(object) = object {
            return self.store(object);
        }
        let expected = format!("arguments of `{}` as numpy, scipy and Python write them", function.name());
        Err(self.refuse(expected, "others"))
    }

    fn scalar(&self, dtype: Id, data: Id) -> Option<Value> {
        /// More than the eight characters of the widest number need, and little to decode.
        const WIDEST: usize = 16;
        let Object::Dtype(dtype) = self.heap.get(dtype) else { return None };
        if let Object::Latin(text) = self.heap.get(data)
            && !matches!(self.heap.get(*text), Object::Text(text) if text.len() <= WIDEST)
        {
            return None;
        }
        dtype.scalar(&self.heap.bytes(data)?)
    }

    /// The empty object of a class.
    pub(super) fn instance(&mut self, class: Value, arguments: Value) -> Result<Value, DataError> {
        match (class, self.heap.tuple(arguments)) {
            (Value::Global(Global::Csr), Some([])) => self.store(Object::Csr(None)),
            _ => Err(self.refuse("`csr_matrix` without arguments", self.heap.describe(class))),
        }
    }

    /// Gives an object its content. Takes constant time, as [`call`](Machine::call) does.
    pub(super) fn build(&mut self, target: Value, state: Value) -> Result<(), DataError> {
        let Value::Object(id) = target else {
            return Err(self.refuse("an object to give a state to", self.heap.describe(target)));
        };
        let items = self.heap.tuple(state);
        let made = match (self.heap.get(id), items) {
            (Object::Array(_), Some(&[_version, shape, dtype, by_column, data])) => {
                let by_column = matches!(by_column, Value::Bool(true) | Value::Int(1));
                let array = Array::new(&self.heap, shape, dtype, by_column, data);
                array.map(|array| Object::Array(Some(Box::new(array))))
            }
            (Object::Dtype(dtype), Some(&[_version, order, ..])) => {
                self.heap.name(order).and_then(|order| dtype.ordered(order)).map(Object::Dtype)
            }
            (Object::Csr(_), None) => match state {
                Value::Object(state) if matches!(self.heap.get(state), Object::Dict(_)) => {
                    Some(Object::Csr(Some(state)))
                }
                _ => None,
            },
            _ => None,
        };
        if let Some(object) = made {
            *self.heap.get_mut(id) = object;
            return Ok(());
        }
        let expected = match self.heap.get(id) {
            Object::Array(_) => "shape of one or two sizes, numpy type, order and bytes of an array",
            Object::Dtype(_) => "byte order `<`, `>` or `|` of a numpy type",
            Object::Csr(_) => "a dictionary of the attributes of a CSR matrix",
            _ => "an array, a numpy type or a CSR matrix to give a state to",
        };
        Err(self.refuse(expected, self.heap.describe(state)))
    }
}
