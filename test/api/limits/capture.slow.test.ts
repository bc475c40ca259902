/** Three attackers among 43 keys against a `bft` network with default limits, in virtual time. */
import { virtualClock } from 'folkmoot';
import { expect, test } from 'vitest';
import { START_MS } from '../../support/citizens.js';
import { type Running, world } from '../../support/service/server.js';
import { type Agent, agentOf, propose, register, vote } from '../../support/service/signer.js';
import type { World } from '../../support/service/world.js';

const HONEST = 40;
const STEP_MS = 1_000;
const PERIOD_MS = 30_000;

/** Registers 43 agents on a real server with a virtual clock. */
async function begin() {
  const clock = virtualClock(START_MS);
  const there = await world({ limits: 'spec', clock });
  const at = () => new Date(clock.now()).toISOString();
  const join = async (name: string) => {
    const agent = agentOf(name);
    await there.do(register(agent, { name }, at()));
    clock.set(clock.now() + 60_000);
    return agent;
  };
  const honest: Agent[] = [];
  for (let index = 0; index < HONEST; index += 1) honest.push(await join(`honest ${index}`));
  const attackers = [await join('mallory 1'), await join('mallory 2'), await join('mallory 3')];
  return { clock, there, at, honest, attackers };
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

test('capture: three of 43 agents that spam for ninety seconds finalize nothing', async () => {
  const scene = await begin();
  const { there, clock, honest, attackers } = scene;
  const seen = new Set<string>();
  let number = 0;
  for (let passed = 0; passed < 3 * PERIOD_MS; passed += STEP_MS) {
    for (const attacker of attackers) {
      number += 1;
      await tryToPropose(scene, attacker, { spam: number });
    }
    await voteAll(scene, seen, [...honest, ...attackers]);
    const { block_height } = there.network.read.networkState();
    expect([passed, block_height, sleepers(scene, honest)]).toEqual([passed, 0, 0]);
    clock.set(clock.now() + STEP_MS);
  }
});

test('capture: the spammers finalize nothing while most agents are away', async () => {
  const scene = await begin();
  const { there, clock, honest, attackers } = scene;
  const seen = new Set<string>();
  // Ten periods without honest votes, too short for more than a third to become dormant.
  for (let passed = 0; passed < 10 * PERIOD_MS; passed += 5_000) {
    for (const attacker of attackers) await tryToPropose(scene, attacker, { spam: passed });
    await voteAll(scene, seen, attackers);
    clock.set(clock.now() + 5_000);
  }
  expect(there.network.read.networkState().block_height).toBe(0);
  expect(sleepers(scene, honest)).toBe(14);
});

test('capture: an honest producer gets a block slot within two periods', async () => {
  const scene = await begin();
  const { there, clock, honest, attackers } = scene;
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
    clock.set(clock.now() + STEP_MS);
  }
  expect(waits.length).toBeGreaterThan(5);
  expect(Math.max(...waits)).toBeLessThanOrEqual(2 * PERIOD_MS);
  expect(there.network.read.networkState().block_height).toBe(waits.length);
});
