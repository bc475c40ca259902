import { type Running, timedWorld } from '../../support/service/server.js';
import { type Agent, propose, vote } from '../../support/service/signer.js';
import type { World } from '../../support/service/world.js';

const HONEST = 40;
const STEP_MS = 1_000;
const PERIOD_MS = 30_000;

/** Registers 43 agents on a real server with a virtual clock. */
async function begin() {
  const timed = await timedWorld();
  const joinAll = async (names: string[]) => {
    const agents: Agent[] = [];
    for (const name of names) agents.push(await timed.join(name, { name }));
    return agents;
  };
  const honest = await joinAll(Array.from({ length: HONEST }, (_, index) => `honest ${index}`));
  const attackers = await joinAll(['mallory 1', 'mallory 2', 'mallory 3']);
  return { ...timed, honest, attackers };
}
type Scene = Awaited<ReturnType<typeof begin>>;

/** Returns the blocks in voting with their producers' keys. */
function open({ network }: World & Running): { hash: string; by: string }[] {
  const voting = [...network.read.records('open', { from: ['block'], to: ['block~'] })];
  return voting.map(({ key }) => {
    const hash = (key as [string, string])[1];
    return { hash, by: network.read.record('blocks', hash)!.context.producer_key };
  });
}

/** Sends a proposal on the head. Returns the response status. */
async function tryToPropose({ there, at }: Scene, by: Agent, extra: object = {}): Promise<number> {
  const { head_hash: parent_hash } = there.network.read.networkState();
  return (await there.send(propose(by, { parent_hash, ...extra }, at()))).status;
}

/**
 * Lets all agents vote on new blocks. Honest agents reject the attackers' blocks and approve other
 * blocks.
 */
async function voteAll(scene: Scene, seen: Set<string>, voters: readonly Agent[]): Promise<void> {
  const { there, at, attackers } = scene;
  const keys = new Set(attackers.map(({ publicKey }) => publicKey));
  const votes: Promise<unknown>[] = [];
  for (const { hash, by } of open(there)) {
    for (const voter of voters) {
      const isOurs = keys.has(by);
      const decision = isOurs === keys.has(voter.publicKey) ? 'approve' : 'reject';
      // Attackers vote only on their own blocks.
      if (keys.has(voter.publicKey) && !isOurs) continue;
      if (seen.has(`${hash} ${voter.publicKey}`)) continue;
      seen.add(`${hash} ${voter.publicKey}`);
      votes.push(there.send(vote(voter, { block_hash: hash, decision }, at())));
    }
  }
  await Promise.all(votes);
}

const sleepers = ({ there }: Scene, agents: readonly Agent[]) =>
  agents.filter(({ agentId }) => there.network.read.agent(agentId)?.dormant).length;

test('capture: the spammers finalize nothing while most agents are away', async () => {
  const scene = await begin();
  const { there, pass, honest, attackers } = scene;
  const seen = new Set<string>();
  // Ten periods without honest votes, too short for more than a third to become dormant.
  for (let passed = 0; passed < 10 * PERIOD_MS; passed += 5_000) {
    for (const attacker of attackers) await tryToPropose(scene, attacker, { spam: passed });
    await voteAll(scene, seen, attackers);
    pass(5_000);
  }
  expect(there.network.read.networkState().block_height).toBe(0);
  expect(sleepers(scene, honest)).toBe(14);
});

test('capture: an honest producer gets a block slot within two periods', async () => {
  const scene = await begin();
  const { there, pass, honest, attackers } = scene;
  const seen = new Set<string>();
  const waits: number[] = [];
  let since = 0;
  let number = 0;
  for (let passed = 0; passed < 6 * PERIOD_MS; passed += STEP_MS) {
    for (const attacker of attackers) {
      number += 1;
      await tryToPropose(scene, attacker, { spam: number });
    }
    if ((await tryToPropose(scene, honest[0]!)) === 201) {
      waits.push(passed - since);
      since = passed;
    }
    await voteAll(scene, seen, [...honest, ...attackers]);
    expect([passed, sleepers(scene, honest)]).toEqual([passed, 0]);
    pass(STEP_MS);
  }
  expect(waits.length).toBeGreaterThan(5);
  expect(Math.max(...waits)).toBeLessThanOrEqual(2 * PERIOD_MS);
  // The attackers finalized nothing.
  expect(there.network.read.networkState().block_height).toBe(waits.length);
});
