/** Forks of saved runs: the prefix is proved identical, or the script that differs is named. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  compareKept,
  completeScenario,
  forkScenario,
  readKept,
  runFork,
  simulate,
} from 'folkmoot/sim';
import { temporaryFolder } from '../../support/fixture.js';
import { logLines } from '../../support/runs.js';
import type { Raw } from '../fixture.js';
import { type Kept, lively, runsHere } from '../interventions/world.js';
import { scripted } from '../sweep/scenarios.js';

const run = runsHere();

async function forked({ folder }: Pick<Kept, 'folder'>, added: Raw[], source?: string) {
  const kept = readKept(folder, source);
  const out = join(temporaryFolder(), 'fork');
  const { result, prefix, added: acted } = await runFork(kept, forkScenario(kept, added), out);
  return { out, result, prefix, acted };
}

test('fork: has equal digests up to the fork, and names the first difference', async () => {
  const base = await run(lively({ length: { blocks: 5 } }));
  const vote = { kind: 'vote', agent: 28, block: 3, decision: 'reject', at_height: 2 };
  const { out, prefix, acted } = await forked(base, [vote]);
  const lines = await logLines(base.folder);
  expect(prefix).toMatchObject({ same: true, difference: null, entry: acted[0]!.entry });
  expect(prefix.log_digest).toBe(lines[prefix.entry]!.log_digest);
  const found = await compareKept(base.folder, out);
  expect(found.same).toBe(false);
  expect(found.first!.seq).toBeGreaterThan(prefix.entry);
  expect(found.first!.details['by, b']).toContain('-28 (key ');
  expect(found.scenario!.path).toBe('interventions.0');
  const changed = found.blocks.find(({ number }) => number === 3)!;
  expect(changed.b!.reject).toBe(changed.a!.reject + 1);
  const votes = found.measures.find(({ measure }) => measure === 'votes')!;
  expect(votes.difference).toBe(votes.b! - votes.a!);
});

test('fork: forks a fork; a fork without changes is identical to the end', async () => {
  const base = await run(lively({ length: { blocks: 3 } }), [
    { kind: 'silence', whom: [{ agent: 2 }], at_height: 1 },
  ]);
  const { out, result, prefix, acted } = await forked(base, [
    { kind: 'set', path: 'social.memes.rate', value: 15, at_ms: 1_000 },
  ]);
  expect(acted.map(({ what }) => what)).toEqual(['social.memes.rate = 15']);
  expect([result.interventions!.length, prefix.same]).toEqual([2, true]);
  const found = await compareKept(base.folder, out);
  expect([found.same, found.first]).toEqual([true, null]);
  const never = await forked(base, [{ kind: 'drop', block: 1, at_entry: 1_000_000 }]);
  expect(never.prefix).toMatchObject({ same: true, entry: base.result.entries - 1 });
});

test('fork: names a script that is not deterministic, and the first different entry', async () => {
  const source = temporaryFolder();
  const body = `const calls = (globalThis.folkmootForks = (globalThis.folkmootForks ?? 0) + 1);
    return { do: 'vote', decision: 'approve', reason: String(calls) };`;
  const scenario = scripted(source, body);
  const folder = join(temporaryFolder(), 'run');
  await simulate(scenario, { folder: source, out: folder });
  const last = { kind: 'silence', whom: [{ agent: 0 }], at_height: 1 };
  const { out, prefix } = await forked({ folder }, [last], source);
  expect([prefix.same, prefix.impure]).toEqual([false, 'script.mjs']);
  expect(prefix.difference!.where).toMatch(/^entry \d+ \(vote\)$/);
  expect(prefix.difference!.details.field).toBe('body.reason');
  expect(existsSync(join(out, 'script.mjs'))).toBe(true);
});

test('fork: a table of the run is not its data file of the same name', async () => {
  const source = temporaryFolder();
  writeFileSync(join(source, 'edges.csv'), '0,1\n1,2\n2,3\n3,0\n0,2\n');
  const raw: Raw = {
    title: 'A network from a file',
    agents: [{ group: 'town', count: 4, producers: 1 }],
    topology: { kind: 'edges', file: 'edges.csv' },
    length: { blocks: 1 },
  };
  const folder = join(temporaryFolder(), 'run');
  await simulate(completeScenario(raw, source), { folder: source, out: folder });
  expect(existsSync(join(folder, 'edges.csv'))).toBe(true);
  expect(() => readKept(folder)).toThrow(expect.objectContaining({ code: 'SOURCE_NOT_FOUND' }));
  expect(readKept(folder, source).source).toBe(source);
  writeFileSync(join(source, 'edges.csv'), '0,1\n');
  expect(() => readKept(folder, source)).toThrow(
    expect.objectContaining({ code: 'SOURCE_CHANGED' }),
  );
});

test('fork: uses and copies the scripts and data files of the run', async () => {
  const source = temporaryFolder();
  const scenario = scripted(source, "return { do: 'vote', decision: 'approve' };");
  const folder = join(temporaryFolder(), 'run');
  await simulate(scenario, { folder: source, out: folder });
  expect(() => readKept(folder)).toThrow(expect.objectContaining({ code: 'SOURCE_NOT_FOUND' }));
  const { out, result } = await forked({ folder }, [], source);
  const raw = JSON.parse(readFileSync(join(out, 'scenario.json'), 'utf8')) as Raw;
  const again = await simulate(completeScenario(raw, out), { folder: out, store: 'memory' });
  expect(again.digest).toBe(result.digest);
  writeFileSync(join(source, 'script.mjs'), 'export function vote() {}\n');
  expect(() => readKept(folder, source)).toThrow(
    expect.objectContaining({ code: 'SOURCE_CHANGED' }),
  );
});
