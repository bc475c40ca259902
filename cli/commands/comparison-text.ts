/** The lines that `fork` and `compare` print. */
import { measures as dictionary } from '../../report/shared/measures.js';
import type { Futures } from '../../sim/compare/futures.js';
import type { KeptComparison } from '../../sim/compare/runs.js';
import type { Forked } from '../../sim/fork/fork.js';

const WIDTH = 12;
const row = (name: string, text: string) => `${name.padEnd(WIDTH)} ${text}`;
const number = (value: number | null) =>
  value === null ? 'unknown' : value.toLocaleString('en-US', { maximumFractionDigits: 4 });

/** What became of what was made otherwise, and of all before. */
export function forkLines({ added, prefix }: Forked): string[] {
  const acted = added.map(({ what, when, at_ms, entry, did }) =>
    at_ms === null
      ? row('never', `${what}, ${when}: the run ended before`)
      : row('otherwise', `${what}: from ${at_ms} ms on, after entry ${entry}; changed ${did}`),
  );
  const { entry, same, log_digest, difference, impure } = prefix;
  if (same) {
    const proof = `entries 0 to ${entry} are the same in both logs: log digest ${log_digest}`;
    return [...acted, row('before', proof)];
  }
  const what = impure === null ? '' : `: the script ${impure} is not the same again`;
  return [
    ...acted,
    row('before', `the logs part at ${difference!.where}, before anything is otherwise${what}`),
    ...Object.entries(difference!.details).map(([name, text]) => row(`  ${name}`, text)),
  ];
}

/** Blocks and measures that are listed; --json has all. */
const MOST = 20;

export function comparisonLines(found: KeptComparison, [a, b]: [string, string]): string[] {
  const { same, first, scenario, blocks, measures, log_digests } = found;
  const parted = scenario && `${scenario.path}: ${scenario.a} in a, ${scenario.b} in b`;
  return [
    row('a', a),
    row('b', b),
    ...(parted ? [row('scenario', `the first that differs is ${parted}`)] : []),
    ...(first
      ? [row('parts at', first.where), ...details(first.details)]
      : [row('log', `the same, to the end: log digest ${log_digests[0]}`)]),
    ...(same ? [row('all', 'the same: entries, blocks and measures')] : []),
    ...blockLines(blocks),
    ...measureLines(measures),
  ];
}

const details = (of: Record<string, string>) =>
  Object.entries(of).map(([name, text]) => row(`  ${name}`, text));

function blockLines(blocks: KeptComparison['blocks']): string[] {
  const outcome = (one: KeptComparison['blocks'][number]['a']) =>
    one === null ? 'not there' : `${one.status} (${one.approve} to ${one.reject})`;
  const turned = blocks.filter(({ a, b }) => a?.status !== b?.status);
  const lines = turned.map((one) =>
    row(`block ${one.number}`, `${outcome(one.a)} -> ${outcome(one.b)}`),
  );
  const others = blocks.length - turned.length;
  if (others > 0) lines.push(row('blocks', `${others} more differ, with the same outcome`));
  return cut(lines, 'blocks');
}

function measureLines(measures: KeptComparison['measures']): string[] {
  const widest = Math.max(0, ...measures.map(({ measure }) => measure.length));
  const lines = measures
    .filter(({ measure }) => measure in dictionary || measure.startsWith('reported.'))
    .map(({ measure, a, b, difference }) => {
      const by = difference === null ? '' : `  ${difference > 0 ? '+' : ''}${number(difference)}`;
      return `${measure.padEnd(widest)}  ${number(a)} -> ${number(b)}${by}`;
    });
  return lines.length === 0 ? [] : ['', ...cut(lines, 'measures')];
}

function cut(lines: string[], what: string): string[] {
  if (lines.length <= MOST) return lines;
  return [...lines.slice(0, MOST), `and ${lines.length - MOST} more ${what}: --json has all`];
}

/** What agents voted in both, where both have one past. */
export function futureLines({ first }: KeptComparison, futures: Futures | null): string[] {
  if (!first) return [];
  if (!futures) return ['', row('votes', 'not compared: the runs have no beginning in common')];
  const { votes, voters } = futures;
  const { same, flipped, only_a, only_b } = votes;
  const turned = voters.filter((one) => one.flipped > 0);
  const counts = `${number(flipped)} flipped, of ${number(turned.length)} agents`;
  const apart = `${number(only_a)} in a only, ${number(only_b)} in b only`;
  const others = `${apart}, ${number(same)} the same`;
  return ['', row('votes', `${counts}; ${others}`)];
}
