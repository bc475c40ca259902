/** Checks run records of folders that may come from someone else. */
import { Type, Value } from '../../engine/protocol/bundled/typebox.js';
import { jsonDifference } from '../../engine/protocol/canonical.js';
import { type Cell, formatSeed, generateCells, getColumn } from './design.js';
import type { Outline } from './plan.js';
import type { RunRecord } from './runs.js';

const text = Type.String();
const figure = Type.Union([Type.Number(), Type.Null()]);
const figures = Type.Record(text, figure);

/** Members that tables and reports read. All other members are copied unchanged. */
const common = {
  replicate: Type.Number(),
  seed: text,
  values: Type.Record(text, Type.Union([text, Type.Number(), Type.Boolean(), Type.Null()])),
  idle: Type.Optional(Type.Array(Type.Number())),
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
    verdict: Type.Enum(['pass', 'no_progress', 'conflict']),
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

/** Returns a function that checks a run record and returns the problem, or null. */
export function recordChecker({ sweep, scenario, keys }: Outline) {
  // Identical cells share their runs, whose values are those of one of them.
  const cells = new Map<string, Cell[]>();
  for (const cell of generateCells(sweep, scenario.seed)) {
    const key = keys[cell.number - 1]!;
    const known = cells.get(key);
    if (known) known.push(cell);
    else cells.set(key, [cell]);
  }
  return (record: unknown, key: string, replicate: number): string | null => {
    if (!Value.Check(Kept, record)) return 'not a run record';
    const kept = record as unknown as RunRecord;
    const found = { replicate: kept.replicate, seed: kept.seed, values: kept.values };
    const problems = (cells.get(key) ?? []).map(({ seed, values }) => {
      const columns = sweep.factors.map((factor, at) => [getColumn(factor), values[at]!]);
      const own = { replicate, seed: formatSeed(seed, replicate) };
      const difference = jsonDifference(found, { ...own, values: Object.fromEntries(columns) });
      return difference && `${difference.path} is ${difference.a}; expected ${difference.b}`;
    });
    return problems.includes(null) ? null : (problems[0] ?? 'not a run of the sweep');
  };
}
