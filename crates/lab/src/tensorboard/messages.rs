//! The few of TensorFlow's messages that scalars and a text need, in the protocol buffers' encoding. Numbers in comments are
//! those of `event.proto`, `summary.proto` and `tensor.proto`.

use std::time::{SystemTime, UNIX_EPOCH};

/// How fields are encoded.
const VARINT: u64 = 0;
const EIGHT_BYTES: u64 = 1;
const LENGTH_FIRST: u64 = 2;
const FOUR_BYTES: u64 = 5;

/// Where the bytes of an event begin that do not depend on when it was written.
pub(super) const AFTER_TIME: usize = 9;

/// What every file begins with.
pub(super) fn version() -> Vec<u8> {
    let mut event = at_step(0);
    put_bytes(&mut event, 3, b"brain.Event:2");
    event
}

/// Named numbers of one step.
pub(super) fn scalars(step: u32, values: &[(String, f64)]) -> Vec<u8> {
    let mut summary = Vec::new();
    for (tag, value) in values {
        let mut message = Vec::new();
        put_bytes(&mut message, 1, tag.as_bytes());
        put_key(&mut message, 2, FOUR_BYTES);
        message.extend_from_slice(&(*value as f32).to_le_bytes());
        put_bytes(&mut summary, 1, &message);
    }
    with_summary(step, &summary)
}

/// A text, which TensorBoard shows as Markdown.
pub(super) fn text(tag: &str, text: &str) -> Vec<u8> {
    /// `DT_STRING` of `types.proto`.
    const STRINGS: u64 = 7;
    let mut tensor = Vec::new();
    put_key(&mut tensor, 1, VARINT);
    put_varint(&mut tensor, STRINGS);
    put_bytes(&mut tensor, 8, text.as_bytes());
    let (mut plugin, mut metadata) = (Vec::new(), Vec::new());
    put_bytes(&mut plugin, 1, b"text");
    put_bytes(&mut metadata, 1, &plugin);
    let (mut value, mut summary) = (Vec::new(), Vec::new());
    put_bytes(&mut value, 1, tag.as_bytes());
    put_bytes(&mut value, 8, &tensor);
    put_bytes(&mut value, 9, &metadata);
    put_bytes(&mut summary, 1, &value);
    with_summary(0, &summary)
}

fn with_summary(step: u32, summary: &[u8]) -> Vec<u8> {
    let mut event = at_step(step);
    put_bytes(&mut event, 5, summary);
    event
}

fn at_step(step: u32) -> Vec<u8> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    let mut event = Vec::new();
    put_key(&mut event, 1, EIGHT_BYTES);
    event.extend_from_slice(&now.to_le_bytes());
    put_key(&mut event, 2, VARINT);
    put_varint(&mut event, step.into());
    event
}

fn put_bytes(message: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    put_key(message, field, LENGTH_FIRST);
    put_varint(message, bytes.len() as u64);
    message.extend_from_slice(bytes);
}

fn put_key(message: &mut Vec<u8>, field: u64, encoding: u64) {
    put_varint(message, field << 3 | encoding);
}

/// Seven bits at a time, the lowest first; the eighth says that more follow.
fn put_varint(message: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        message.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    message.push(number.to_le_bytes()[0]);
}
