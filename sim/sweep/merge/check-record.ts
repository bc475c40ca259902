/** Whether a run that a shard brings is what the sweep would have kept of it. */
import { Type, Value } from '../../../engine/internal.js';
import { jsonDifference } from '../../compare/index.js';
import { type Cell, cellsOf, columnOf, seedOf } from '../design/cells.js';
import type { Outline } from '../plan.js';
import type { RunRecord } from '../record.js';

const text = Type.String();
const figure = Type.Union([Type.Number(), Type.Null()]);
const figures = Type.Record(text, figure);

/** Of what tables and reports read; whatever else a run says is copied as it is. */
const common = {
  measures: Type.Union([figures, Type.Null()]),
  groups: Type.Array(Type.Record(text, Type.Union([text, figure]))),
  reported: Type.Object({ run: figures, groups: Type.Record(text, figures) }),
  digest: Type.Union([text, Type.Null()]),
};
const Rule = Type.Object({ rule: text, actor: text, expected: text, found: text });
const kinds = Type.Enum(['scenario', 'unanswered', 'crash']);

const Kept = Type.Union([
  Type.Object({
    ...common,
    verdict: Type.Enum(['pass', 'no_progress']),
    ended_by: text,
    error: Type.Null(),
  }),
  Type.Object({ ...common, verdict: Type.Literal('safety'), broken: Rule, error: Type.Null() }),
  Type.Object({
    ...common,
    verdict: Type.Literal('error'),
    error: Type.Object({ kind: kinds, message: text }),
  }),
]);

/** Gives what is wrong with the record of a run, or null. */
export function recordChecker({ sweep, scenario, keys }: Outline) {
  const cells = new Map<string, Cell>();
  for (const cell of cellsOf(sweep, scenario.seed)) {
    const key = keys[cell.number - 1]!;
    // Cells that are the same have their runs in common, which say the values of the first.
    if (!cells.has(key)) cells.set(key, cell);
  }
  return (record: unknown, key: string, replicate: number): string | null => {
    if (!Value.Check(Kept, record)) return 'it is not what a sweep keeps of a run';
    const { seed, values } = cells.get(key)!;
    const columns = sweep.factors.map((factor, at) => [columnOf(factor), values[at]!]);
    const expected = {
      replicate,
      seed: seedOf(seed, replicate),
      values: Object.fromEntries(columns),
    };
    const kept = record as unknown as RunRecord;
    const found = { replicate: kept.replicate, seed: kept.seed, values: kept.values };
    const difference = jsonDifference(found, expected);
    return difference && `${difference.path} is ${difference.a}; expected ${difference.b}`;
  };
}
