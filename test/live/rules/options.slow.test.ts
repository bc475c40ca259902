/** A block with 16 options, whose state diffs fill the largest proposal, on a live server. */
import type { AgentClient } from 'folkmoot/client';
import { agentOf, live } from '../../client/helpers.js';
import { largeOptions, namesOf } from './large-options.js';

const serve = (transport: 'uws' | 'node') => live({ genesis: { policy: 'schulze' }, transport });

const validators = (url: string, count: number): Promise<AgentClient[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => agentOf(url, at + 1)));

test.each(['uws', 'node'] as const)('%s: a block with the largest options', async (transport) => {
  const { url } = await serve(transport);
  const agents = await validators(url, 5);
  const options = largeOptions();
  const { block_hash } = await agents[0]!.propose({ transactions: [], options });
  const ranking = namesOf(options).reverse();
  const voting = { block_hash, decision: 'approve', reason: '', ballot: { ranking } } as const;
  for (const agent of agents.slice(1)) await agent.vote(voting);
  // Reads arrive while the last vote closes the block.
  let isClosed = false;
  const reading = Promise.all(
    Array.from({ length: 8 }, async () => {
      const statuses: number[] = [];
      while (!isClosed) {
        statuses.push((await fetch(`${url}/api/v1/blocks/${block_hash}`)).status);
      }
      return statuses;
    }),
  );
  await agents[0]!.vote(voting);
  isClosed = true;
  const statuses = (await reading).flat();
  expect(new Set(statuses)).toEqual(new Set([200]));
  const block = await read(`${url}/api/v1/blocks/${block_hash}`);
  expect(block).toMatchObject({ status: 'finalized', choice: 'option-15' });
  // The state has only the keys of the chosen option.
  expect(await read(`${url}/api/v1/state/last`)).toMatchObject({ value: 'option-15' });
  expect((await fetch(`${url}/api/v1/state/only-option-14`)).status).toBe(404);
  expect((await fetch(`${url}/api/v1/state/only-option-15`)).status).toBe(200);
});

test('server: one option or byte more is refused, and the server answers', async () => {
  const { url } = await serve('uws');
  const [agent] = await validators(url, 1);
  const refused = (options: ReturnType<typeof largeOptions>) =>
    agent!.propose({ transactions: [], options }).then(
      () => null,
      (error: { status: number; pointer?: string }) => error,
    );
  const seventeen = Array.from({ length: 17 }, (_, at) => ({ name: `option-${at}` }));
  expect(await refused(seventeen)).toMatchObject({ status: 400 });
  const [first, ...rest] = largeOptions();
  const keys = Array.from({ length: 1_001 }, (_, at) => [`key-${at}`, 0]);
  const many = { ...first!, state_diff: { additions: Object.fromEntries(keys) } };
  expect(await refused([many, ...rest.slice(0, 1)])).toMatchObject({ status: 400 });
  const value = { ...first!, state_diff: { additions: { large: 'x'.repeat(4_095) } } };
  expect(await refused([value, ...rest.slice(0, 1)])).toMatchObject({ status: 400 });
  const full = largeOptions();
  const { additions } = full[0]!.state_diff!;
  for (const key of Object.keys(additions).slice(2, 10)) additions[key] = 'x'.repeat(4_000);
  expect(await refused(full)).toMatchObject({ status: 413 });
  expect((await fetch(`${url}/api/v1/network/state`)).status).toBe(200);
});

async function read(url: string): Promise<Record<string, unknown>> {
  const answer = await fetch(url);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { data: Record<string, unknown> }).data;
}
