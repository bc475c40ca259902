/** Bugs seeded in copies of the engine: an assertion stops the network before it commits them. */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { SignedRequest } from 'folkmoot';
import type { Violation } from '../../../dist/engine/protocol/invariants.js';
import { START_MS } from '../../support/citizens.js';
import { agents, blockOf, proposal, registration, vote } from '../../support/cluster/nodes.js';
import { temporaryFolder } from '../../support/fixture.js';
import { openForReading } from '../../support/runs.js';
import { root } from '../../tidy/sources.js';

type Seeded = readonly [problem: Violation['problem'], file: string, find: string, becomes: string];

const counter = 'rules/poll-counter.js';
const blocks = 'core/commands/blocks.js';
const seeded: Seeded[] = [
  ['TALLY_WEIGHT', counter, 'counts[decision] += weight', 'counts[decision] += 100 * weight'],
  [
    'VOTER_POSITION',
    blocks,
    'return problem ?? { plan: { agent, block, position } }',
    'return { plan: { agent, block, position: position + 1 } }',
  ],
  ['CHAIN_HEIGHT', blocks, 'height: state.height + 1,', 'height: state.height + 2,'],
  ['ELECTORATE_CHANGED', blocks, 'electorate: electorate.id,', 'electorate: electorate.id + 1,'],
  ['TALLY_STORED', 'core/blocks.js', '...event.tally,', '...event.tally, approve: 0,'],
  [
    'SCORE_RANGE',
    'core/reputation.js',
    '20 * standings.get(ordinal, column.meme)',
    '900 * standings.get(ordinal, column.meme)',
  ],
  ['DEADLINE_WITHOUT_BLOCK', blocks, 'state.deadlines.remove(deadlineId(block.hash));', ''],
  ['LOGGED_ENTRY', 'core/engine.js', 'this.#last.seq = seq;', 'this.#last.seq = seq + 1;'],
  ['LOG_HEAD', 'protocol/log.js', 'stored.set(this.#log, 0);', ''],
];

/** Copies the engine, and seeds a bug in the copy. */
function seedEngine([problem, file, find, becomes]: Seeded): string {
  const folder = temporaryFolder();
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  cpSync(join(root, 'dist/engine'), join(folder, 'dist/engine'), {
    recursive: true,
    filter: (path) => !/\.(map|d\.ts)$/.test(path),
  });
  const path = join(folder, 'dist/engine', file);
  const parts = readFileSync(path, 'utf8').split(find);
  expect(parts, problem).toHaveLength(2);
  writeFileSync(path, parts.join(becomes));
  return pathToFileURL(join(folder, 'dist/engine/index.js')).href;
}

/**
 * Registers four agents and proposes two blocks, of which one gets all votes. Expects a failure.
 * @returns the last entry that was published.
 */
async function live(engine: typeof import('folkmoot'), path: string, onFatal: (e: Error) => void) {
  const clock = engine.virtualClock(START_MS);
  const verifier = engine.createVerifier('off');
  const genesis = { network_id: 'devnet' };
  const network = await engine.Network.open({ path, genesis, verifier, clock, onFatal });
  const submit = async (request: SignedRequest) => network.submit(await network.verify(request));
  const [producer, ...others] = agents.slice(0, 4);
  const life = async () => {
    for (const agent of [producer!, ...others]) await submit(registration(agent));
    const hash = blockOf(await submit(proposal(producer!)));
    for (const agent of [producer!, ...others]) await submit(vote(agent, hash));
    await submit(proposal(producer!, hash));
    clock.set(clock.now() + network.genesis.voting_period_ms + 1);
    network.fireDeadlines();
    await network.durable;
  };
  await expect(life()).rejects.toThrow();
  const { seq } = network.read.position;
  await network.close().catch(() => {});
  return seq;
}

test.each(seeded)('violation: %s stops the network before its commit', async (...bug) => {
  const path = temporaryFolder();
  const failures: Error[] = [];
  const copy = (await import(seedEngine(bug))) as typeof import('folkmoot');
  const published = await live(copy, path, (error) => failures.push(error));
  expect(failures).toEqual([expect.objectContaining({ name: 'Violation', problem: bug[0] })]);
  const store = openForReading(path);
  onTestFinished(() => store.close());
  expect(store.meta()!.seq).toBe(published);
});
