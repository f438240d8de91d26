//! The stack machine whose programs pickles are.

use std::borrow::Cow;
use std::path::Path;

use super::globals::Global;
use super::{Heap, Id, Object, Pickle, Value, text};
use crate::DataError;
use crate::error::{Place, format_error};

/// The last protocol that this reader knows.
const LAST_PROTOCOL: u8 = 5;

pub(super) struct Machine<'a> {
    file: &'a Path,
    bytes: &'a [u8],
    /// The next byte.
    next: usize,
    /// Where the instruction at hand starts.
    start: usize,
    stack: Vec<Value>,
    /// Heights of the stack, from which later instructions take all that is above.
    marks: Vec<usize>,
    memo: Vec<Option<Value>>,
    pub(super) heap: Heap<'a>,
}

impl<'a> Machine<'a> {
    pub(super) fn new(file: &'a Path, bytes: &'a [u8]) -> Machine<'a> {
        let (stack, marks, memo) = (Vec::new(), Vec::new(), Vec::new());
        Machine { file, bytes, next: 0, start: 0, stack, marks, memo, heap: Heap::default() }
    }

    pub(super) fn run(mut self) -> Result<Pickle<'a>, DataError> {
        loop {
            self.start = self.next;
            let instruction = self.array::<1>()?[0];
            if instruction == b'.' {
                let root = self.pop()?;
                if self.next < self.bytes.len() {
                    let found = format!("{} more bytes", self.bytes.len() - self.next);
                    return Err(self.refuse("the end of the file after the instruction to stop", found));
                }
                return Ok(Pickle { file: self.file, size: self.bytes.len(), heap: self.heap, root });
            }
            self.step(instruction)?;
        }
    }

    /// Runs one instruction. The comments are Python's names of the instructions.
    fn step(&mut self, instruction: u8) -> Result<(), DataError> {
        let value = match instruction {
            b'N' => Value::None,
            0x88 => Value::Bool(true),
            0x89 => Value::Bool(false),
            b'K' => Value::Int(self.array::<1>()?[0].into()), // BININT1
            b'M' => Value::Int(u16::from_le_bytes(self.array()?).into()), // BININT2
            b'J' => Value::Int(i32::from_le_bytes(self.array()?).into()), // BININT
            b'I' => self.decimal(true)?,                      // INT
            b'L' => self.decimal(false)?,                     // LONG
            0x8a => {
                let size = self.array::<1>()?[0].into(); // LONG1
                self.long(size)?
            }
            0x8b => {
                let size = self.size::<4>()?; // LONG4
                self.long(size)?
            }
            b'F' => {
                let line = self.line()?; // FLOAT
                let number = std::str::from_utf8(line).ok().and_then(|line| line.parse().ok());
                Value::Float(number.ok_or_else(|| self.refuse("a number", text::excerpt(line)))?)
            }
            b'G' => Value::Float(f64::from_be_bytes(self.array()?)), // BINFLOAT

            b'U' | b'C' => self.bytes_of::<1>()?, // SHORT_BINSTRING, SHORT_BINBYTES
            b'T' | b'B' => self.bytes_of::<4>()?, // BINSTRING, BINBYTES
            0x8e | 0x96 => self.bytes_of::<8>()?, // BINBYTES8, BYTEARRAY8
            0x8c => self.text_of::<1>()?,         // SHORT_BINUNICODE
            b'X' => self.text_of::<4>()?,         // BINUNICODE
            0x8d => self.text_of::<8>()?,         // BINUNICODE8
            b'S' => self.escaped(text::from_literal, Object::Bytes)?, // STRING
            b'V' => self.escaped(text::from_raw_unicode, Object::Text)?, // UNICODE

            b']' => self.store(Object::List(Vec::new()))?,
            b'}' => self.store(Object::Dict(Vec::new()))?,
            b')' => self.store(Object::Tuple(Vec::new()))?,
            0x85..=0x87 => {
                let mut items = vec![Value::None; usize::from(instruction - 0x84)]; // TUPLE1 to TUPLE3
                for item in items.iter_mut().rev() {
                    *item = self.pop()?;
                }
                self.store(Object::Tuple(items))?
            }
            b't' => {
                let items = self.pop_to_mark()?; // TUPLE
                self.store(Object::Tuple(items))?
            }
            b'l' => {
                let items = self.pop_to_mark()?; // LIST
                self.store(Object::List(items))?
            }
            b'd' => {
                let items = self.pop_pairs()?; // DICT
                self.store(Object::Dict(items))?
            }

            b'g' => {
                let line = self.line()?; // GET
                let position = self.position(line)?;
                self.recall(position)?
            }
            b'h' => {
                let position = self.array::<1>()?[0].into(); // BINGET
                self.recall(position)?
            }
            b'j' => {
                let position = self.size::<4>()?; // LONG_BINGET
                self.recall(position)?
            }
            b'2' => self.top()?, // DUP

            b'c' => {
                let (module, name) = (self.line()?, self.line()?); // GLOBAL
                self.global(module, name)?
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?); // STACK_GLOBAL
                match (self.heap.name(module), self.heap.name(name)) {
                    (Some(module), Some(name)) => self.global(module, name)?,
                    _ => return Err(self.refuse("the texts of a Python name", self.heap.describe(name))),
                }
            }
            b'R' => {
                let (arguments, function) = (self.pop()?, self.pop()?); // REDUCE
                self.call(function, arguments)?
            }
            0x81 => {
                let (arguments, class) = (self.pop()?, self.pop()?); // NEWOBJ
                self.instance(class, arguments)?
            }
            other => return self.step_without_value(other),
        };
        self.stack.push(value);
        Ok(())
    }

    /// The instructions that leave no new value on the stack.
    fn step_without_value(&mut self, instruction: u8) -> Result<(), DataError> {
        match instruction {
            0x80 => {
                let version = self.array::<1>()?[0]; // PROTO
                if version > LAST_PROTOCOL {
                    let expected = format!("a pickle of protocol 0 to {LAST_PROTOCOL}");
                    return Err(self.refuse(expected, format!("protocol {version}")));
                }
            }
            // The size of a frame says how much to buffer: nothing, for a file that is in memory.
            0x95 => drop(self.array::<8>()?),
            b'(' => self.marks.push(self.stack.len()), // MARK
            b'0' => drop(self.pop()?),                 // POP
            b'1' => drop(self.pop_to_mark()?),         // POP_MARK
            b'p' => {
                let line = self.line()?; // PUT
                let position = self.position(line)?;
                self.remember(position)?;
            }
            b'q' => {
                let position = self.array::<1>()?[0].into(); // BINPUT
                self.remember(position)?;
            }
            b'r' => {
                let position = self.size::<4>()?; // LONG_BINPUT
                self.remember(position)?;
            }
            0x94 => self.remember(self.memo.len())?, // MEMOIZE
            b'a' => {
                let item = self.pop()?; // APPEND
                self.append([item])?;
            }
            b'e' => {
                let items = self.pop_to_mark()?; // APPENDS
                self.append(items)?;
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?); // SETITEM
                self.insert([(key, value)])?;
            }
            b'u' => {
                let items = self.pop_pairs()?; // SETITEMS
                self.insert(items)?;
            }
            b'b' => {
                let (state, target) = (self.pop()?, self.top()?); // BUILD
                self.build(target, state)?;
            }
            other => {
                let found = format!("the instruction `{}`", text::excerpt(&[other]));
                let error = self.refuse("an instruction that makes data", found);
                return Err(error.with_help("only data is read, and nothing is executed"));
            }
        }
        Ok(())
    }

    /// The error that the instruction at hand does not do.
    pub(super) fn refuse(&self, expected: impl Into<String>, found: impl Into<String>) -> DataError {
        format_error(self.file, Place::Byte(self.start as u64), expected, found)
    }

    /// Puts an object on the heap.
    pub(super) fn store(&mut self, object: Object<'a>) -> Result<Value, DataError> {
        let Ok(id) = u32::try_from(self.heap.0.len()) else {
            return Err(self.refuse("at most 4294967296 objects", "more"));
        };
        self.heap.0.push((self.start, object));
        Ok(Value::Object(Id(id)))
    }

    fn global(&self, module: &[u8], name: &[u8]) -> Result<Value, DataError> {
        Global::find(module, name).map(Value::Global).ok_or_else(|| {
            let found = format!("the Python name `{}.{}`", text::excerpt(module), text::excerpt(name));
            let error = self.refuse("numbers, texts, lists, numpy arrays and scipy CSR matrices", found);
            error.with_help("only data is read, and nothing is executed; do not open this file with Python")
        })
    }

    fn take(&mut self, size: usize) -> Result<&'a [u8], DataError> {
        let rest = &self.bytes[self.next..];
        if let Some(taken) = rest.get(..size) {
            self.next += size;
            return Ok(taken);
        }
        Err(self.refuse(format!("{size} more bytes"), format!("{} until the end of the file", rest.len())))
    }

    fn array<const SIZE: usize>(&mut self) -> Result<[u8; SIZE], DataError> {
        let mut array = [0; SIZE];
        array.copy_from_slice(self.take(SIZE)?);
        Ok(array)
    }

    /// A size of that many bytes.
    fn size<const BYTES: usize>(&mut self) -> Result<usize, DataError> {
        let mut wide = [0; 8];
        wide[..BYTES].copy_from_slice(&self.array::<BYTES>()?);
        Ok(usize::try_from(u64::from_le_bytes(wide)).unwrap_or(usize::MAX))
    }

    fn line(&mut self) -> Result<&'a [u8], DataError> {
        let rest = &self.bytes[self.next..];
        match rest.iter().position(|&byte| byte == b'\n') {
            Some(end) => {
                self.next += end + 1;
                Ok(&rest[..end])
            }
            None => Err(self.refuse("a line", "the end of the file")),
        }
    }

    fn bytes_of<const BYTES: usize>(&mut self) -> Result<Value, DataError> {
        let size = self.size::<BYTES>()?;
        let bytes = self.take(size)?;
        self.store(Object::Bytes(bytes.into()))
    }

    fn text_of<const BYTES: usize>(&mut self) -> Result<Value, DataError> {
        let size = self.size::<BYTES>()?;
        let bytes = self.take(size)?;
        self.store(Object::Text(bytes.into()))
    }

    fn escaped(
        &mut self,
        decode: fn(&'a [u8]) -> Option<Cow<'a, [u8]>>,
        object: fn(Cow<'a, [u8]>) -> Object<'a>,
    ) -> Result<Value, DataError> {
        let line = self.line()?;
        match decode(line) {
            Some(bytes) => self.store(object(bytes)),
            None => Err(self.refuse("a text with Python's escapes", format!("`{}`", text::excerpt(line)))),
        }
    }

    /// A whole number in decimal digits; `00` and `01` are what protocol 1 has for truth.
    fn decimal(&mut self, short: bool) -> Result<Value, DataError> {
        let line = self.line()?;
        match line {
            b"00" if short => return Ok(Value::Bool(false)),
            b"01" if short => return Ok(Value::Bool(true)),
            _ => {}
        }
        let digits = line.strip_suffix(b"L").unwrap_or(line);
        let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        let found = || format!("`{}`", text::excerpt(line));
        number.map(Value::Int).ok_or_else(|| self.refuse("a whole number of at most 64 bits", found()))
    }

    /// A whole number of that many bytes in two's complement.
    fn long(&mut self, size: usize) -> Result<Value, DataError> {
        let bytes = self.take(size)?;
        let negative = bytes.last().is_some_and(|last| last & 0x80 != 0);
        let mut wide = [if negative { 0xff } else { 0 }; 8];
        match wide.get_mut(..size) {
            Some(low) => low.copy_from_slice(bytes),
            None => return Err(self.refuse("a whole number of at most 64 bits", format!("{size} bytes"))),
        }
        Ok(Value::Int(i64::from_le_bytes(wide)))
    }

    fn position(&self, line: &[u8]) -> Result<usize, DataError> {
        let number = std::str::from_utf8(line).ok().and_then(|line| line.parse().ok());
        number.ok_or_else(|| self.refuse("a position of the memo", format!("`{}`", text::excerpt(line))))
    }

    fn recall(&self, position: usize) -> Result<Value, DataError> {
        let value = self.memo.get(position).copied().flatten();
        value.ok_or_else(|| self.refuse("a value that was remembered", format!("none at {position}")))
    }

    fn remember(&mut self, position: usize) -> Result<(), DataError> {
        // Positions count up, and each takes at least one byte of the file.
        if position > self.bytes.len() {
            let expected = format!("a position of the memo up to {}, the size of the file", self.bytes.len());
            return Err(self.refuse(expected, position.to_string()));
        }
        let value = self.top()?;
        if position >= self.memo.len() {
            self.memo.resize(position + 1, None);
        }
        self.memo[position] = Some(value);
        Ok(())
    }

    fn top(&self) -> Result<Value, DataError> {
        let bottom = self.marks.last().copied().unwrap_or(0);
        let top = self.stack[bottom..].last().copied();
        top.ok_or_else(|| self.refuse("a value on the stack", "none"))
    }

    fn pop(&mut self) -> Result<Value, DataError> {
        let top = self.top()?;
        self.stack.pop();
        Ok(top)
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Value>, DataError> {
        match self.marks.pop() {
            // Not `split_off`, which may hand over the capacity of the whole stack.
            Some(mark) => Ok(self.stack.drain(mark..).collect()),
            None => Err(self.refuse("a mark on the stack", "none")),
        }
    }

    fn pop_pairs(&mut self) -> Result<Vec<(Value, Value)>, DataError> {
        let items = self.pop_to_mark()?;
        let (pairs, single) = items.as_chunks();
        if single.is_empty() {
            Ok(pairs.iter().map(|&[key, value]| (key, value)).collect())
        } else {
            Err(self.refuse("keys and values", "a key without a value"))
        }
    }

    fn append(&mut self, items: impl IntoIterator<Item = Value>) -> Result<(), DataError> {
        let target = self.top()?;
        if let Value::Object(id) = target
            && let Object::List(list) = self.heap.get_mut(id)
        {
            list.extend(items);
            return Ok(());
        }
        Err(self.refuse("a list to append to", self.heap.describe(target)))
    }

    fn insert(&mut self, pairs: impl IntoIterator<Item = (Value, Value)>) -> Result<(), DataError> {
        let target = self.top()?;
        if let Value::Object(id) = target
            && let Object::Dict(dict) = self.heap.get_mut(id)
        {
            dict.extend(pairs);
            return Ok(());
        }
        Err(self.refuse("a dictionary to put values into", self.heap.describe(target)))
    }
}
