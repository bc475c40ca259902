/** The same bytes to both transports: equal status and reason, or the protocol's table says why. */
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { serve, transports } from '../api/server.js';
import { full } from '../counts.js';
import { catalogue } from './catalogue.js';
import { rows, timed } from './differences.js';
import { documented, outcomes, says } from './differential.js';

/** In full, longer than the longest deadline for a head that does not end. */
const PATIENCE_MS = full ? 20_000 : 2_000;

async function both(): Promise<string[][]> {
  const runs = transports.map(async (transport) => {
    const there = await serve({ transport, limits: 'off' });
    onTestFinished(() => there.close());
    return outcomes(there.url, catalogue, PATIENCE_MS);
  });
  return Promise.all(runs);
}

test('differential: raw requests differ over the transports as documented, only so', async () => {
  const table = documented(readFileSync('docs/protocol.md', 'utf8'));
  const [uws = [], node = []] = await both();
  expect(catalogue.length).toBeGreaterThanOrEqual(400);
  expect([...uws, ...node].filter((seen) => /^5(?!05)/.test(seen))).toEqual([]);
  const shown = new Set<string>();
  const wrong = catalogue.flatMap(({ name }, at) => {
    const seen = `${name}: uws ${uws[at]}, node ${node[at]}`;
    const known = rows.filter(([, ...names]) => names.some((one) => one.test(name)));
    const [row] = known.map(([what]) => table.find((one) => one.what.startsWith(what)));
    if (known.length > 1) return [`${seen}: falls under ${known.map(([what]) => what)}`];
    if (known.length > 0 && !row) return [`${seen}: there is no row ${known[0]![0]}`];
    if (!row) return uws[at] === node[at] ? [] : [`${seen}: no row says so`];
    shown.add(row.what);
    return says(row.uws, uws[at]!) && says(row.node, node[at]!) ? [] : [`${seen}: ${row.what}`];
  });
  expect(wrong).toEqual([]);
  const unseen = table.filter(({ what }) => !shown.has(what));
  expect(unseen.filter(({ what }) => !timed.some((one) => what.startsWith(one)))).toEqual([]);
  expect(table.filter(({ cause }) => cause === '')).toEqual([]);
});
