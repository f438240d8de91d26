//! The table of edges as a Parquet file, with the columns of the CSV.

use std::sync::Arc;

use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, FloatType, Int32Type};
use ::parquet::errors::Result;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::Type;

use super::EdgeRow;

/// Rows that are written, and later read, at a time.
const GROUP: usize = 1 << 20;

/// Columns that are always there; the others where a row has something to say in them.
const ALWAYS: [&str; 7] =
    ["source", "target", "difficulty", "first_epoch", "weight", "source_class", "target_class"];

/// What a column takes from a row; `None` in a row is a null.
enum Column {
    Id(fn(&EdgeRow) -> Option<u32>),
    Number(fn(&EdgeRow) -> Option<f32>),
    Text(fn(&EdgeRow) -> Option<&str>),
    Flag(fn(&EdgeRow) -> Option<bool>),
}

const COLUMNS: [(&str, Column); 13] = [
    ("source", Column::Id(|row| Some(row.source))),
    ("target", Column::Id(|row| Some(row.target))),
    ("source_name", Column::Text(|row| row.source_name.as_deref())),
    ("target_name", Column::Text(|row| row.target_name.as_deref())),
    ("suspicion", Column::Number(|row| row.suspicion)),
    ("difficulty", Column::Number(|row| Some(row.difficulty))),
    ("first_epoch", Column::Id(|row| row.first_epoch)),
    ("weight", Column::Number(|row| Some(row.weight))),
    ("source_class", Column::Text(|row| row.source_class.as_deref())),
    ("target_class", Column::Text(|row| row.target_class.as_deref())),
    ("feature_similarity", Column::Number(|row| row.feature_similarity)),
    ("jaccard", Column::Number(|row| row.jaccard)),
    ("fake", Column::Flag(|row| row.fake)),
];

impl Column {
    fn physical(&self) -> (Physical, Option<LogicalType>) {
        match self {
            Column::Id(_) => (Physical::INT32, Some(LogicalType::integer(32, false))),
            Column::Number(_) => (Physical::FLOAT, None),
            Column::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Column::Flag(_) => (Physical::BOOLEAN, None),
        }
    }

    /// Whether a row has something to say in this column.
    fn is_in(&self, row: &EdgeRow) -> bool {
        match self {
            Column::Id(of) => of(row).is_some(),
            Column::Number(of) => of(row).is_some(),
            Column::Text(of) => of(row).is_some(),
            Column::Flag(of) => of(row).is_some(),
        }
    }

    fn write(&self, rows: &[EdgeRow], group: &mut SerializedRowGroupWriter<'_, Vec<u8>>) -> Result<()> {
        let Some(mut writer) = group.next_column()? else { return Ok(()) };
        let present: Vec<i16> = rows.iter().map(|row| i16::from(self.is_in(row))).collect();
        let present = Some(&present[..]);
        match self {
            // Parquet keeps unsigned numbers in the bits of signed ones.
            Column::Id(of) => {
                let values: Vec<i32> = rows.iter().filter_map(of).map(u32::cast_signed).collect();
                writer.typed::<Int32Type>().write_batch(&values, present, None)?;
            }
            Column::Number(of) => {
                let values: Vec<f32> = rows.iter().filter_map(of).collect();
                writer.typed::<FloatType>().write_batch(&values, present, None)?;
            }
            Column::Text(of) => {
                let values: Vec<ByteArray> = rows.iter().filter_map(of).map(ByteArray::from).collect();
                writer.typed::<ByteArrayType>().write_batch(&values, present, None)?;
            }
            Column::Flag(of) => {
                let values: Vec<bool> = rows.iter().filter_map(of).collect();
                writer.typed::<BoolType>().write_batch(&values, present, None)?;
            }
        }
        writer.close()
    }
}

/// The rows as a Parquet file.
pub(crate) fn bytes(mut rows: impl ExactSizeIterator<Item = EdgeRow>) -> Result<Vec<u8>> {
    let mut group: Vec<EdgeRow> = rows.by_ref().take(GROUP).collect();
    let is_there =
        |(name, column): &&(&str, Column)| ALWAYS.contains(name) || group.iter().any(|row| column.is_in(row));
    let columns: Vec<&(&str, Column)> = COLUMNS.iter().filter(is_there).collect();
    let fields = columns.iter().map(|(name, column)| {
        let (physical, logical) = column.physical();
        let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
        Ok(Arc::new(field.with_logical_type(logical).build()?))
    });
    let fields = fields.collect::<Result<Vec<_>>>()?;
    let schema = Arc::new(Type::group_type_builder("edges").with_fields(fields).build()?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    while !group.is_empty() {
        let mut out = writer.next_row_group()?;
        for (_, column) in &columns {
            column.write(&group, &mut out)?;
        }
        out.close()?;
        group.clear();
        group.extend(rows.by_ref().take(GROUP));
    }
    writer.into_inner()
}
