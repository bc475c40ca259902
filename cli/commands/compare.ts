import { existsSync } from 'node:fs';
import type { Futures } from '../../sim/compare/futures.js';
import type { KeptComparison } from '../../sim/compare/runs.js';
import type { Forked } from '../../sim/fork/fork.js';
import { CliCommand } from '../options/options.js';
import { UsageError } from '../output/exit.js';
import { printJson, writeStderr, writeStdoutAsync } from '../output/output.js';

export function compareCommand(): CliCommand {
  return new CliCommand('compare')
    .description('compare two saved runs: scenario, log, blocks, measures')
    .argument('<a>', 'first run, written by sim --out or fork')
    .argument('<b>', 'second run')
    .option('--out <file>', 'HTML file to write, with charts and votes')
    .option('--json', 'print one JSON object')
    .notes(`
Prints the first difference in the scenarios and in the logs, each block with a
different outcome (approving to rejecting weight), and each measure that differs
(b minus a). If the runs share a prefix, also counts flipped votes.

One pair of runs cannot show whether a difference is significant. For that, use
folkmoot fork RUN --replicates.`)
    .examples(
      'compare runs/7 runs/7-fork',
      'compare runs/7 runs/7-fork --out comparison.html',
      'compare runs/7 runs/8 --json | jq .measures',
    )
    .action(run);
}

interface Flags {
  out?: string;
  json?: boolean;
}

async function run(a: string, b: string, { out, json }: Flags): Promise<void> {
  if (out !== undefined && !/\.html?$/i.test(out)) {
    throw new UsageError('INVALID_VALUE', {
      option: '--out',
      value: out,
      expected: 'an .html file',
    });
  }
  if (out !== undefined && existsSync(out)) throw new UsageError('FILE_EXISTS', { path: out });
  const { compareKept } = await import('../../sim/compare/runs.js');
  const { compareFutures } = await import('../../sim/compare/futures.js');
  const found = await compareKept(a, b);
  const futures = await compareFutures(a, b, found.first?.seq);
  if (out !== undefined) {
    const { writeComparison } = await import('../../sim/report/index.js');
    await writeComparison({ a, b, file: out, found, futures });
  }
  if (json) printJson({ ...found, futures });
  else {
    const lines = await comparisonLines(found, [a, b]);
    await writeStdoutAsync(...lines, ...futureLines(found, futures));
  }
  if (out !== undefined) writeStderr(`report: ${out}`);
}

// ---- Output lines of `compare` and `fork`

const WIDTH = 12;
const row = (name: string, text: string) => `${name.padEnd(WIDTH)} ${text}`;
const number = (value: number | null) =>
  value === null ? 'unknown' : value.toLocaleString('en-US', { maximumFractionDigits: 4 });

/** Formats each intervention's effect and the comparison of the prefix. */
export function forkLines({ added, prefix }: Forked): string[] {
  const acted = added.map(({ what, when, at_ms, entry, did }) =>
    at_ms === null
      ? row('not applied', `${what}, ${when}: the run ended before`)
      : row('change', `${what}: from ${at_ms} ms, after entry ${entry}; changed ${did}`),
  );
  const { entry, same, log_digest, difference, impure } = prefix;
  if (same) {
    const proof = `entries 0 to ${entry} are identical in both logs: log digest ${log_digest}`;
    return [...acted, row('prefix', proof)];
  }
  const what = impure === null ? '' : `: script not deterministic: ${impure}`;
  return [
    ...acted,
    row('prefix', `logs diverge at ${difference!.where}, before the first change${what}`),
    ...details(difference!.details),
  ];
}

/** Limit on listed blocks and measures. --json lists all of them. */
const MOST = 20;

export async function comparisonLines(
  found: KeptComparison,
  [a, b]: [string, string],
): Promise<string[]> {
  const { same, first, scenario, blocks, measures, log_digests } = found;
  const parted = scenario && `${scenario.path}: a ${scenario.a}, b ${scenario.b}`;
  return [
    row('a', a),
    row('b', b),
    ...(parted ? [row('scenario', `first difference: ${parted}`)] : []),
    ...(first
      ? [row('diverges at', first.where), ...details(first.details)]
      : [row('log', `identical: log digest ${log_digests[0]}`)]),
    ...(same ? [row('all', 'identical: entries, blocks and measures')] : []),
    ...blockLines(blocks),
    ...(await measureLines(measures)),
  ];
}

const details = (of: Record<string, string>) =>
  Object.entries(of).map(([name, text]) => row(`  ${name}`, text));

function blockLines(blocks: KeptComparison['blocks']): string[] {
  const outcome = (one: KeptComparison['blocks'][number]['a']) =>
    one === null ? 'missing' : `${one.status} (${one.approve} to ${one.reject})`;
  const turned = blocks.filter(({ a, b }) => a?.status !== b?.status);
  const lines = turned.map((one) =>
    row(`block ${one.number}`, `${outcome(one.a)} -> ${outcome(one.b)}`),
  );
  const others = blocks.length - turned.length;
  if (others > 0) lines.push(row('blocks', `${others} more differ with the same outcome`));
  return cut(lines, 'blocks');
}

async function measureLines(measures: KeptComparison['measures']): Promise<string[]> {
  const { measures: dictionary } = await import('../../report/shared/measures.js');
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
  return [...lines.slice(0, MOST), `and ${lines.length - MOST} more ${what}; use --json for all`];
}

/** Formats the futures. Compares votes only if the runs share a prefix. */
function futureLines({ first }: KeptComparison, futures: Futures | null): string[] {
  if (!first) return [];
  if (!futures) return ['', row('votes', 'not compared: the runs share no prefix')];
  const { votes, voters } = futures;
  const { same, flipped, only_a, only_b } = votes;
  const turned = voters.filter((one) => one.flipped > 0);
  const counts = `${number(flipped)} flipped, by ${number(turned.length)} agents`;
  const apart = `${number(only_a)} only in a, ${number(only_b)} only in b`;
  const others = `${apart}, ${number(same)} identical`;
  return ['', row('votes', `${counts}; ${others}`)];
}
