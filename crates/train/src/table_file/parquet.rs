//! A table as a Parquet file: a group of rows for each piece.

use std::io::Write;
use std::sync::Arc;

use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, FloatType, Int32Type};
use ::parquet::errors::Result;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::Type;

use super::{Cells, Column};

fn field(column: &Column) -> Result<Type> {
    let (physical, logical) = match &column.cells {
        Cells::Ids(_) => (Physical::INT32, Some(LogicalType::integer(32, false))),
        Cells::Numbers(_) => (Physical::FLOAT, None),
        Cells::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Cells::Flags(_) => (Physical::BOOLEAN, None),
    };
    let field = Type::primitive_type_builder(&column.name, physical).with_repetition(Repetition::OPTIONAL);
    field.with_logical_type(logical).build()
}

fn write_column<W: Write + Send>(cells: &Cells, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<()> {
    match cells {
        // Parquet keeps unsigned numbers in the bits of signed ones.
        Cells::Ids(cells) => write_cells::<Int32Type, _, _>(group, cells, |id| id.cast_signed()),
        Cells::Numbers(cells) => write_cells::<FloatType, _, _>(group, cells, |&number| number),
        Cells::Texts(cells) => {
            write_cells::<ByteArrayType, _, _>(group, cells, |text| ByteArray::from(&text[..]))
        }
        Cells::Flags(cells) => write_cells::<BoolType, _, _>(group, cells, |&flag| flag),
    }
}

/// Values that are there, and for each cell whether it is.
fn write_cells<D: DataType, C, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    cells: &[Option<C>],
    value: impl Fn(&C) -> D::T,
) -> Result<()> {
    let Some(mut writer) = group.next_column()? else { return Ok(()) };
    let present: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<D::T> = cells.iter().flatten().map(value).collect();
    writer.typed::<D>().write_batch(&values, Some(&present), None)?;
    writer.close()
}

/// Writes the pieces of a table, which all have the columns of the first.
pub(super) fn write<W: Write + Send>(out: W, mut pieces: impl Iterator<Item = Vec<Column>>) -> Result<()> {
    let mut next = pieces.next();
    let fields = next.iter().flatten().map(|column| Ok(Arc::new(field(column)?))).collect::<Result<_>>()?;
    let schema = Arc::new(Type::group_type_builder("table").with_fields(fields).build()?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    while let Some(piece) = next {
        let mut group = writer.next_row_group()?;
        for column in &piece {
            write_column(&column.cells, &mut group)?;
        }
        group.close()?;
        next = pieces.next();
    }
    writer.finish().map(drop)
}
