/** Two futures of one past: different votes, by agent and since the fork; and their page. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareKept, forkScenario, readKept, runFork } from 'folkmoot/sim';
import { compareFutures } from '../../../dist/sim/compare/futures.js';
import { writeComparison } from '../../../dist/sim/report/index.js';
import { temporaryFolder } from '../../support/fixture.js';
import { csvRows, logLines } from '../../support/runs.js';
import type { Raw } from '../fixture.js';
import { lively, runsHere } from '../interventions/world.js';

const run = runsHere();

async function forkOf(folder: string, added: Raw[]): Promise<string> {
  const kept = readKept(folder);
  const out = join(temporaryFolder(), 'fork');
  await runFork(kept, forkScenario(kept, added), out);
  return out;
}

async function compared(a: string, b: string) {
  const found = await compareKept(a, b);
  const futures = await compareFutures(a, b, found.first?.seq);
  const file = join(temporaryFolder(), 'compared.html');
  await writeComparison({ a, b, file, found, futures });
  const page = readFileSync(file, 'utf8');
  const text = page.replace(/<style>[\s\S]*?<\/style>/g, '').replace(/<wbr>/g, '');
  const words = text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
  return { found, futures, file, page, words };
}

/** Reads the first vote of each agent on each block from a run's log. */
async function votesIn(folder: string): Promise<Map<string, string>> {
  const hashes = csvRows(join(folder, 'blocks.csv'));
  const numbers = new Map(hashes.map(({ block_hash, number }) => [block_hash, number]));
  const events = await logLines(folder);
  const votes = new Map<string, string>();
  for (const line of events) {
    const { kind, public_key, body } = line as unknown as Record<string, string>;
    if (kind !== 'vote') continue;
    const { block_hash, decision } = JSON.parse(body!) as Record<string, string>;
    const place = `${public_key} ${numbers.get(block_hash!)}`;
    if (!votes.has(place)) votes.set(place, decision!);
  }
  return votes;
}

test('futures: counts different votes as a recount of both logs does', async () => {
  const base = await run(lively({ length: { blocks: 5 } }));
  const votes = Array.from({ length: 8 }, (_, index) => {
    return { kind: 'vote', agent: 21 + index, block: 3, decision: 'reject', at_height: 2 };
  });
  const quiet = { kind: 'silence', whom: [{ group: 'town', share: 0.2 }], at_height: 2 };
  const out = await forkOf(base.folder, [...votes, quiet]);
  const { futures, found, words } = await compared(base.folder, out);
  const [one, other] = [await votesIn(base.folder), await votesIn(out)];
  const places = new Set([...one.keys(), ...other.keys()]);
  const expected = { same: 0, flipped: 0, only_a: 0, only_b: 0 };
  for (const place of places) {
    const [a, b] = [one.get(place), other.get(place)];
    if (a === b) expected.same += 1;
    else if (a && b) expected.flipped += 1;
    else if (a) expected.only_a += 1;
    else expected.only_b += 1;
  }
  expect(futures!.votes).toEqual(expected);
  expect(expected.flipped).toBeGreaterThan(0);
  expect(expected.only_a).toBeGreaterThan(0);
  const turned = futures!.voters.filter(({ flipped }) => flipped > 0);
  expect(turned.map(({ name }) => name)).toContainEqual(expect.stringMatching(/-2[1-8]$/));
  expect(futures!.common).toBe(found.first!.seq);
  // At or after the last common entry.
  const lines = (await logLines(base.folder)) as unknown as { at: number }[];
  const before = lines[futures!.common - 1]!.at - lines[0]!.at;
  expect(futures!.parted_ms).toBeGreaterThanOrEqual(before);
  expect(words).toContain(`The first ${futures!.common} entries`);
  expect(words).toContain('intervention in B');
  expect(words).toContain('Agents with different votes');
  expect(words).toContain('Tallies of changed blocks');
});

test('futures: finds no common prefix for different seeds', async () => {
  const [one, other] = [
    await run(lively({ length: { blocks: 2 } })),
    await run(lively({ length: { blocks: 2 }, seed: 'another' })),
  ];
  const { futures, words } = await compared(one.folder, other.folder);
  expect(futures).toBeNull();
  expect(words).toContain('No common prefix.');
  expect(words).not.toContain('Agents with different votes');
});

test('futures: finds no difference between a run and itself', async () => {
  const { folder } = await run(lively({ length: { blocks: 2 } }));
  const { futures, words } = await compared(folder, folder);
  expect(futures).toBeNull();
  expect(words).toContain('Identical runs.');
  expect(words).not.toContain('First difference');
});

test('page: links to exported runs at the first different entry', async () => {
  const base = await run(lively({ length: { blocks: 3 } }));
  const out = await forkOf(base.folder, [{ kind: 'silence', whom: [{ agent: 4 }], at_height: 1 }]);
  expect((await compared(base.folder, out)).page).not.toContain('?at=');
  writeFileSync(join(out, 'run.html'), '');
  const { page, found } = await compared(base.folder, out);
  const links = [...page.matchAll(/<a href="([^"]*)"/g)].map(([, href]) => href);
  expect(links).toEqual([expect.stringMatching(`/run\\.html\\?at=${found.first!.seq}$`)]);
  expect(page).not.toMatch(/href="https?:/);
});
