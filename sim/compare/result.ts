/** The result that a kept run left: what others rest on is looked at before it is believed. */
import { StoreError, Type, validator } from '../../engine/internal.js';
import { readJson } from '../../report/read.js';
import type { SimResult } from '../run/result.js';

const hashes = Type.Record(Type.String(), Type.String({ pattern: '^[0-9a-f]{64}$' }));
const numbers = Type.Record(Type.String(), Type.Union([Type.Number(), Type.Null()]));
const whole = Type.Integer({ minimum: 0 });

/** Others than these may be there; whoever adds some need not be known here. */
const Kept = Type.Object({
  seed: Type.String(),
  scenario: Type.Object({ measure: Type.Object({}) }),
  modules: hashes,
  files: hashes,
  url: Type.Optional(Type.String()),
  measures: numbers,
  reported: Type.Object({ run: numbers }),
  entries: whole,
  virtual_ms: whole,
  log_digest: Type.String(),
});
let check: ReturnType<typeof validator> | undefined;

/** @throws {StoreError} when the folder holds no finished run, or `summary.json` is none of one. */
export function resultIn(folder: string): SimResult {
  const result = readJson<SimResult>(folder, 'summary.json');
  check ??= validator(Kept);
  const problem = check(result);
  if (!problem) return result;
  const why = `${problem.pointer} ${problem.message}`.trim();
  throw new StoreError('CORRUPT', `summary.json in ${folder} is not as sim leaves it: ${why}`);
}
