/** Re-exports the writer of Parquet files for the bundle: 90 KB instead of 1 MB of packages. */
export {
  type BasicType,
  ByteWriter,
  ParquetWriter,
  schemaFromColumnData,
} from 'hyparquet-writer';
