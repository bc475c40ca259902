/** How a network of several nodes begins: once, by whoever of them comes first. */
import { randomUUID } from 'node:crypto';
import { completeGenesis, type GenesisOptions, StoreError } from '../engine/internal.js';
import type { Founding, Order } from './order/order.js';

/**
 * What the network was begun with, which is what is asked for where nobody has begun it.
 *
 * @throws {StoreError} `OTHER_NETWORK` when it was begun with another parameter than is asked for.
 * @throws {TypeError} when one is out of bounds.
 */
export async function foundedWith(
  order: Pick<Order, 'found'>,
  asked: GenesisOptions,
  at: number,
): Promise<Founding> {
  const genesis = completeGenesis(asked);
  const founding = await order.found({ log: randomUUID(), epoch: randomUUID(), at, genesis });
  const begun = Object.entries(founding.genesis);
  for (const [name, value] of begun) {
    const wanted = asked[name as keyof GenesisOptions];
    if (wanted === undefined || wanted === value) continue;
    const was = `the network was begun with ${name} ${value}, not ${wanted}`;
    throw new StoreError('OTHER_NETWORK', `${was}; parameters are fixed at genesis`);
  }
  return founding;
}
