/** Alert rules, dashboard and docs/monitoring.md name only metrics that a server exposes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/fixture.js';
import { root } from '../support/paths.js';
import { world } from '../support/service/server.js';
import { alertExpressions, dashboardExpressions, metricsIn } from './promql.js';

/** Returns the names of all samples of a server that has closed a block. */
async function scrapedNames(): Promise<Set<string>> {
  const there = await world({ path: temporaryFolder() });
  const agents = await there.joinAll('Ada', 'Bob', 'Cyd');
  const hash = await there.propose(agents[0]!);
  for (const agent of agents) await there.vote(agent, hash);
  const { text } = await there.get('/metrics');
  return new Set(text.match(/^folkmoot_\w+/gm));
}

test('deploy: every metric in alert rules and dashboard is in a scrape of a server', async () => {
  const scraped = await scrapedNames();
  const expressions = [...alertExpressions(), ...dashboardExpressions()];
  const names = [...new Set(expressions.flatMap(({ expr }) => metricsIn(expr)))];
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter((name) => !scraped.has(name))).toEqual([]);
});

test('deploy: docs/monitoring.md lists the metrics of a scrape, and no others', async () => {
  const text = readFileSync(join(root, 'docs/monitoring.md'), 'utf8');
  const listed = [...text.matchAll(/^\| `(folkmoot_\w+)`/gm)].map(([, name]) => name!);
  const part = /_(?:bucket|sum|count)$/;
  const families = [...(await scrapedNames())]
    .filter((name) => !/^folkmoot_(?:process|nodejs)_/.test(name))
    .map((name) => name.replace(part, ''));
  expect(listed.sort()).toEqual([...new Set(families)].sort());
});
