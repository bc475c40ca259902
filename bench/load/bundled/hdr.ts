/** Re-exports HdrHistogram for the bundle: 100 KB instead of 2 MB of packages. */
export {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
  HistogramLogWriter,
} from 'hdr-histogram-js';
