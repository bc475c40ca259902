/** Networks with several nodes that decide by a module: who joins, and equal decisions. */
import { type GenesisOptions, StoreError } from 'folkmoot';
import {
  agents,
  blockOf,
  expectSame,
  openNode,
  proposal,
  registration,
  vote,
} from '../support/cluster/nodes.js';
import { MemoryOrder } from '../support/cluster/order.js';
import { temporaryFolder } from '../support/fixture.js';

const source = `export default {
  parameters: { for_bps: { default: 5_000, minimum: 1, maximum: 9_999 } },
  decide({ approve, reject, total }, { for_bps }, over) {
    if (approve * 10_000 > for_bps * total) return 'finalized';
    if (reject * 10_000 >= (10_000 - for_bps) * total) return 'rejected';
    return over ? 'expired' : null;
  },
};`;
const parameters = { for_bps: 3_000 };
const genesis = { policy: 'module', rule: { source, parameters } } as const;
const voters = agents.slice(0, 3);

/** Returns the problem for which a node does not start. */
const problemOf = (order: MemoryOrder, other: Partial<GenesisOptions>, path?: string) =>
  openNode(order, { name: 'n2', genesis: other, ...(path === undefined ? {} : { path }) }).then(
    () => 'started',
    (error: unknown) => (error instanceof StoreError ? error.problem : String(error)),
  );

test('nodes: a node that does not allow the module of its network does not start', async () => {
  const order = new MemoryOrder();
  const n1 = await openNode(order, { name: 'n1', genesis });
  await n1.submit(registration(voters[0]!));
  const path = temporaryFolder();
  expect(await problemOf(order, {}, path)).toBe('MODULE_NOT_ALLOWED');
  // The refused node wrote nothing that keeps it from joining with the module.
  const n2 = await openNode(order, { name: 'n2', genesis, path });
  await expectSame(order, [n1, n2]);
  expect(n1.fatal).toEqual([]);
});

test('nodes: a node with another module or other parameters does not start', async () => {
  const order = new MemoryOrder();
  await openNode(order, { name: 'n1', genesis });
  const changed = [
    { policy: 'bft' },
    { policy: 'module', rule: { source: `${source}\n`, parameters } },
    { policy: 'module', rule: { source, parameters: { for_bps: 3_001 } } },
    { policy: 'module', rule: { source } },
  ] as const;
  for (const other of changed) expect(await problemOf(order, other)).toBe('GENESIS_MISMATCH');
});

test('nodes: refuse to create a network with a module that is not a rule', async () => {
  const order = new MemoryOrder();
  const broken = { policy: 'module', rule: { source: 'export default 1;' } } as const;
  expect(await problemOf(order, broken)).toMatch(/source/);
  const n1 = await openNode(order, { name: 'n1', genesis });
  expect(n1.network.genesis.rule).toEqual({ source, parameters });
});

test('nodes: decide by a module with the same digests', async () => {
  const order = new MemoryOrder();
  const nodes = [];
  for (const name of ['n1', 'n2', 'n3']) nodes.push(await openNode(order, { name, genesis }));
  const [n1, n2, n3] = nodes;
  for (const by of voters) expect(await n1!.submit(registration(by))).toHaveProperty('data');
  await expectSame(order, nodes);
  const block = blockOf(await n2!.submit(proposal(voters[0]!)));
  await expectSame(order, nodes);
  // One of three approving votes exceeds 30 %.
  expect(await n3!.submit(vote(voters[1]!, block))).toHaveProperty('data');
  await expectSame(order, nodes);
  for (const { network } of nodes) {
    expect(network.read.block(block)).toMatchObject({ status: 'finalized' });
  }
});
