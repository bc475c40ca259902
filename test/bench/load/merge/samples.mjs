/**
 * Loaded with `node --import` and `?to=FOLDER` before a load generator. When a thread ends, writes
 * the recorded values of each of its histograms to FOLDER, in microseconds.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { build } from '../../../../dist/bench/load/bundled/hdr.js';

const folder = new URL(import.meta.url).searchParams.get('to');
const samples = new Map();

let prototype = build();
while (!Object.hasOwn(prototype, 'recordValue')) prototype = Object.getPrototypeOf(prototype);
const { recordValue } = prototype;
prototype.recordValue = function record(value) {
  if (!samples.has(this)) samples.set(this, []);
  samples.get(this).push(value);
  return recordValue.call(this, value);
};

process.on('exit', () => {
  if (samples.size === 0) return;
  writeFileSync(join(folder, `${threadId}.json`), JSON.stringify([...samples.values()]));
});
