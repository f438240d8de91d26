//! Small Parquet files with the types that pandas writes.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use ::parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::Type;

/// A column that may miss values.
pub(crate) enum Values {
    Text(Vec<Option<String>>),
    Double(Vec<Option<f64>>),
    Whole(Vec<Option<i64>>),
    Truth(Vec<Option<bool>>),
    /// Days since 1970.
    Date(Vec<Option<i32>>),
    /// Microseconds since 1970.
    Time(Vec<Option<i64>>),
}

/// Writes one row group of columns that may miss values.
pub(crate) fn write(file: &Path, columns: &[(&str, Values)]) {
    let kind = |values: &Values| match values {
        Values::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Values::Double(_) => (Physical::DOUBLE, None),
        Values::Whole(_) => (Physical::INT64, None),
        Values::Truth(_) => (Physical::BOOLEAN, None),
        Values::Date(_) => (Physical::INT32, Some(LogicalType::Date)),
        Values::Time(_) => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS))),
    };
    let field = |(name, values): &(&str, Values)| {
        let (physical, logical) = kind(values);
        let field = Type::primitive_type_builder(name, physical).with_logical_type(logical);
        Arc::new(field.with_repetition(Repetition::OPTIONAL).build().unwrap())
    };
    let schema = Type::group_type_builder("table").with_fields(columns.iter().map(field).collect());
    let schema = Arc::new(schema.build().unwrap());
    let out = fs::File::create(file).unwrap();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(WriterProperties::default())).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for (_, values) in columns {
        let mut column = group.next_column().unwrap().unwrap();
        macro_rules! put {
            ($type:ty, $values:expr, $convert:expr) => {{
                let levels: Vec<i16> = $values.iter().map(|value| i16::from(value.is_some())).collect();
                let there: Vec<_> = $values.iter().flatten().map($convert).collect();
                column.typed::<$type>().write_batch(&there, Some(&levels), None).unwrap();
            }};
        }
        match values {
            Values::Text(values) => put!(ByteArrayType, values, |text| ByteArray::from(&text[..])),
            Values::Double(values) => put!(DoubleType, values, |value| *value),
            Values::Whole(values) | Values::Time(values) => put!(Int64Type, values, |value| *value),
            Values::Truth(values) => put!(BoolType, values, |value| *value),
            Values::Date(values) => put!(Int32Type, values, |value| *value),
        }
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}
