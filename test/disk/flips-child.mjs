/**
 * Changes bytes in a folder, one at a time, and prints the results of reads, one JSON object per
 * line: `detected` with its source, or `same` if all data is unchanged. LMDB can crash this
 * process. The parent then restarts the process after that byte.
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ViewLog } from '../../dist/api/view/log/view-log.js';
import { History } from '../../dist/engine/history/history.js';
import { KeptNetwork } from '../../dist/engine/node/kept-network.js';
import { SCHEMA_VERSION, tables } from '../../dist/engine/protocol/schema/record.js';
import { storedLines } from '../../dist/engine/replay/lines.js';
import { replay } from '../../dist/engine/replay/replay.js';
import { openLmdbStore } from '../../dist/engine/store/lmdb.js';
import { checkStorePages } from '../../dist/engine/store/lmdb-guards.js';
import { StoreError } from '../../dist/engine/store/messages.js';

const [folder, copy, listed, from] = process.argv.slice(2);
const flips = JSON.parse(readFileSync(listed, 'utf8'));

/** Checks the folder as `folkmoot check` does. Returns the problem or null. */
async function problem() {
  checkStorePages(copy);
  const options = { path: copy, tables, schemaVersion: SCHEMA_VERSION, readOnly: true };
  const stored = openLmdbStore({ ...options, whole: true });
  try {
    const lines = storedLines(stored, 0, stored.meta().seq);
    const { first_divergence: found } = await replay({ lines, stored });
    return found && `${found.what} ${found.which ?? found.seq}`;
  } finally {
    await stored.close();
  }
}

/** Reads all rows and words in the view, and the states and digests at earlier entries. */
async function shown() {
  const network = KeptNetwork.open({ path: copy });
  const view = new ViewLog(network, { chunkRows: 40 });
  const history = History.open({ path: copy, spacing: 16, share: 1 });
  const end = network.read.position.seq;
  const all = [];
  for (let next = 0; next <= end; next = all.at(-1).to + 1) all.push(await view.readRowBatch(next));
  for (const at of [end, end >> 1, end >> 2]) {
    const { read, position } = await history.at(at);
    all.push(await view.readSnapshot(at), position.digest, [...read.agents()], [...read.blocks()]);
  }
  await history.close();
  await view.close();
  await network.close();
  // The epoch is random and not covered by a digest, so a changed epoch is harmless.
  return JSON.parse(JSON.stringify(all).replaceAll(network.epoch, ''));
}

async function outcome(honest) {
  try {
    const found = await problem();
    if (found) return { outcome: 'detected', by: found };
    return { outcome: isDeepStrictEqual(await shown(), honest) ? 'same' : 'BELIEVED' };
  } catch (error) {
    if (error instanceof StoreError) return { outcome: 'detected', by: error.code };
    return { outcome: 'THROWN', by: error.stack };
  }
}

const begin = () => {
  rmSync(copy, { recursive: true, force: true });
  cpSync(folder, copy, { recursive: true });
};

begin();
const honest = await shown();
for (const [index, { file, at, bit }] of flips.entries()) {
  if (index < Number(from)) continue;
  begin();
  const path = join(copy, file);
  const bytes = readFileSync(path);
  bytes[at] ^= bit;
  writeFileSync(path, bytes);
  const found = await outcome(honest);
  process.stdout.write(`${JSON.stringify({ index, file, at, bit, ...found })}\n`);
}
