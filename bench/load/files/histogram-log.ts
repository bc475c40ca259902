/** The histograms of a result as a log that the tools of HdrHistogram read. */
import { decodeFromCompressedBase64, HistogramLogWriter } from 'hdr-histogram-js';
import { timesOf } from '../figures/histograms.js';
import type { LoadResult } from '../result.js';

/** One interval for each histogram, told apart by tags such as `vote.response`. */
export function histogramLog(result: LoadResult): string {
  const lines: string[] = [];
  const writer = new HistogramLogWriter((text) => void lines.push(text));
  writer.outputLogFormatVersion();
  // By hand: the library's own line depends on the time zone, and an empty line follows it.
  const seconds = (Date.parse(result.started) / 1_000).toFixed(3);
  writer.outputComment(`[StartTime: ${seconds} (seconds since epoch), ${result.started}]`);
  writer.outputComment('[Values are microseconds, interval maxima milliseconds]');
  writer.outputLegend();
  for (const { operation, time, percentiles } of timesOf(result)) {
    const decoded = decodeFromCompressedBase64(percentiles.histogram!);
    // Readers part their fields at spaces and commas.
    decoded.tag = [operation ?? '', time].flatMap((part) => part.match(/\w+/g) ?? []).join('.');
    writer.outputIntervalHistogram(decoded, 0, result.measured_s);
  }
  return lines.join('');
}
