/** A server whose rule fails: each fault expires the block, and the server keeps answering. */
import { AgentClient, generateKeys } from 'folkmoot/client';
import { live } from '../../client/helpers.js';

const serve = (source: string) =>
  live({ genesis: { policy: 'module', rule: { source } }, transport: 'node' });

/** Registers three validators, lets them vote on a block, and returns the end of the block. */
async function decide(url: string, ballot?: unknown) {
  const agents = await Promise.all(
    ['Ada', 'Ben', 'Cleo'].map(async (name) => {
      const agent = new AgentClient({ url, keys: generateKeys() });
      await agent.register({
        ...{ name, personality: 'lawful', capabilities: ['validator', 'producer'] },
      });
      return agent;
    }),
  );
  const [ada] = agents;
  const events = ada!.events(['proposals', 'outcomes']);
  await events.opened;
  const refusals: string[] = [];
  await ada!.propose({ transactions: ['hello'] });
  for await (const { type, data } of events) {
    if (type === 'block_status') {
      return { status: data.status, fault: data.fault, refusals };
    }
    if (type !== 'block_proposal') continue;
    for (const agent of agents) {
      const vote = { block_hash: data.block_hash, decision: 'approve', reason: 'Yes.' } as const;
      await agent.vote({ ...vote, ...(ballot === undefined ? {} : { ballot }) }).catch((error) => {
        refusals.push((error as { reason: string }).reason);
        return ballot === undefined ? null : agent.vote(vote);
      });
    }
  }
  throw new Error('the events ended');
}

const counting = (add: string) =>
  `export default {
    decidesEarly: true,
    tally: () => ({ status: 'finalized' }),
    counter: () => ({ add() { ${add} }, verdict: () => ({ status: null }) }),
  };`;
const tally = (code: string) => `export default { tally() { ${code} } };`;

test.each([
  ['an endless decide', 'export default { decide() { for (;;); } };', 'RULE_TIMEOUT'],
  ['an endless tally', tally('for (;;);'), 'RULE_TIMEOUT'],
  ['an endless add', counting('for (;;);'), 'RULE_TIMEOUT'],
  ['a native function', tally('[].indexOf.call({ length: 2 ** 53 - 1 }, 1);'), 'RULE_TIMEOUT'],
  ['recursion', tally('const f = () => f(); f();'), 'RULE_MEMORY'],
  ['an exception', tally('throw new Error("no");'), 'RULE_THREW'],
  ['1 MB of output', tally('return { status: "x".repeat(2 ** 20) };'), 'RULE_VERDICT'],
  [
    'a contradiction',
    `export default {
    tally: () => ({ status: 'finalized' }),
    counter: () => ({ add() {}, verdict: () => ({ status: 'rejected' }) }),
  };`,
    'RULE_CONTRADICTION',
  ],
])('server: a rule with %s expires the block, and the server answers', async (_, source, fault) => {
  const { url } = await serve(source);
  const end = await decide(url);
  expect(end).toMatchObject({ status: 'expired', fault });
  // A rule that fails before the last vote closes the block early.
  expect(end.refusals.every((reason) => reason === 'VOTING_CLOSED')).toBe(true);
  const answer = await fetch(`${url}/api/v1/network/state`);
  expect(answer.status).toBe(200);
  const state = (await answer.json()) as { data: { active_validators: number } };
  expect(state.data.active_validators).toBe(3);
});

test('server: a rule that never accepts a ballot refuses it, and the server answers', async () => {
  const { url } = await serve(`export default {
    tally: ({ votes }) => ({ status: votes.length === 3 ? 'finalized' : 'expired' }),
    ballot: { type: 'integer', minimum: 0, maximum: 9 },
    accepts() { for (;;); },
  };`);
  const end = await decide(url, 3);
  expect(end).toMatchObject({ status: 'finalized' });
  expect(new Set(end.refusals).size).toBe(1);
  expect(end.refusals).toHaveLength(3);
});
