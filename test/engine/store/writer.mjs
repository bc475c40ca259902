/**
 * A process with an open store.
 * `node writer.mjs write <folder> <batches> [hold]` commits and prints batches; with `hold`, it
 * keeps the store open until its input ends.
 * `node writer.mjs read <folder>` prints the last sequence number for each input line.
 * `node writer.mjs exitProcess|exit|throw <folder> <turns>` exits in the named way, a number of
 * turns after a commit starts.
 */
import { createInterface } from 'node:readline';
import { openLmdbStore } from '../../../dist/engine/store/lmdb.js';
import { StoreError } from '../../../dist/engine/store/messages.js';
import { exitProcess } from '../../../dist/engine/store/process-end.js';

const [mode, path, count = '0', hold] = process.argv.slice(2);
const print = (text) => process.stdout.write(`${text}\n`);

function batchAt(seq) {
  return {
    entries: [{ seq, bytes: Buffer.from(`entry ${seq}`) }],
    events: [{ seq, json: JSON.stringify({ seq }) }],
    changes: [{ table: 'votes', key: seq, json: JSON.stringify({ seq }) }],
    blobs: [],
    meta: {
      schema_version: 3,
      network_id: 'testnet',
      epoch: 'e1',
      seq,
      at: 1_000 + seq,
      event_seq: seq,
      log_digest: 'aa',
      digest: 'bb',
    },
  };
}

const ends = {
  exitProcess: () => exitProcess(13),
  exit: () => process.exit(13),
  throw: () => {
    throw new Error('uncaught');
  },
};

/** Throws in a later turn, so that the error is uncaught. */
function endAfter(turns) {
  setImmediate(() => (turns === 0 ? ends[mode]() : endAfter(turns - 1)));
}

try {
  const readOnly = mode === 'read';
  const tables = ['votes', 'blocks'];
  const store = openLmdbStore({ path, tables, schemaVersion: 3, freeSpaceBytes: 0, readOnly });
  print('open');
  const last = store.meta()?.seq ?? 0;
  if (mode in ends) {
    await store.commit(batchAt(1));
    void store.commit(batchAt(2));
    endAfter(Number(count));
    await new Promise(() => {});
  }
  for (let seq = last + 1; seq <= last + Number(count); seq += 1) {
    await store.commit(batchAt(seq));
    print(`committed ${seq}`);
  }
  if (readOnly) {
    for await (const line of createInterface({ input: process.stdin })) {
      print(`${line} ${store.meta()?.seq ?? 0} ${[...store.entries(0, 1_000)].length}`);
    }
  } else if (hold === 'hold') {
    for await (const _ of process.stdin);
  }
  await store.close();
} catch (error) {
  if (!(error instanceof StoreError)) throw error;
  print(error.code);
}
