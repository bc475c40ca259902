/**
 * Replays a data folder and prints live memory (heap and buffers) at intervals, as JSON. With
 * `keep`, keeps each entry's results, as a control.
 */
import {
  openLmdbStore,
  replay,
  SCHEMA_VERSION,
  storedLines,
  tables,
} from '../../../dist/engine/index.js';

const LOOKS = 40;
const MIB = 2 ** 20;
const [path, keep] = process.argv.slice(2);
const stored = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
const end = stored.meta();
const kept = [];
const alive = [];
let next = 0;
const result = await replay({
  lines: storedLines(stored, 0, end.seq),
  stored,
  end,
  ...(keep ? { onStep: (done) => void kept.push(done.results) } : {}),
  onProgress(seq) {
    if (seq < next) return;
    next += end.seq / LOOKS;
    globalThis.gc();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    alive.push({ seq, mib: (heapUsed + arrayBuffers) / MIB });
  },
});
await stored.close();
const { match, entries } = result;
process.stdout.write(JSON.stringify({ match, entries, kept: kept.length, alive }));
