/**
 * Sends the same bytes to both transports, and expects equal status and reason or a documented
 * difference.
 */
import { readFileSync } from 'node:fs';
import { full, heavy } from '../../support/counts.js';
import { serve, transports } from '../../support/service/server.js';
import { catalogue } from './catalogue.js';
import { rows, timed } from './differences.js';
import { documented, outcomes, type Row, says } from './differential.js';

/**
 * Time to wait on a silent connection. In a full run, it exceeds the longest deadline for an
 * unfinished head.
 */
const SILENCE_MS = full ? 20_000 : 2_000;
/** Time to wait on a request that gets a response or a close at once, even on a busy machine. */
const PATIENCE_MS = 90_000;

async function both(table: readonly Row[]): Promise<string[][]> {
  const runs = transports.map(async (transport) => {
    const there = await serve({ transport, limits: 'off' });
    onTestFinished(() => there.close());
    const patienceMs = (name: string) =>
      rowsOf(table, name).some((row) => says(row[transport], 'silent')) ? SILENCE_MS : PATIENCE_MS;
    return outcomes(there.url, catalogue, patienceMs);
  });
  return Promise.all(runs);
}

const headings = (name: string) =>
  rows.filter(([, ...names]) => names.some((one) => one.test(name))).map(([what]) => what);

/** Returns the table rows that apply to a case. */
const rowsOf = (table: readonly Row[], name: string) =>
  headings(name).flatMap((what) => table.find((one) => one.what.startsWith(what)) ?? []);

test(
  'differential: raw requests differ between uws and node only as documented',
  heavy,
  async () => {
    const table = documented(readFileSync('docs/protocol.md', 'utf8'));
    const [uws = [], node = []] = await both(table);
    expect(catalogue.length).toBeGreaterThanOrEqual(400);
    expect([...uws, ...node].filter((seen) => /^5(?!05)/.test(seen))).toEqual([]);
    const shown = new Set<string>();
    const wrong = catalogue.flatMap(({ name }, at) => {
      const seen = `${name}: uws ${uws[at]}, node ${node[at]}`;
      const known = headings(name);
      const [row] = rowsOf(table, name);
      if (known.length > 1) return [`${seen}: falls under ${known}`];
      if (known.length > 0 && !row) return [`${seen}: there is no row ${known[0]}`];
      if (!row) return uws[at] === node[at] ? [] : [`${seen}: no row says so`];
      shown.add(row.what);
      return says(row.uws, uws[at]!) && says(row.node, node[at]!) ? [] : [`${seen}: ${row.what}`];
    });
    expect(wrong).toEqual([]);
    const unseen = table.filter(({ what }) => !shown.has(what));
    expect(unseen.filter(({ what }) => !timed.some((one) => what.startsWith(one)))).toEqual([]);
    expect(table.filter(({ cause }) => cause === '')).toEqual([]);
  },
);
