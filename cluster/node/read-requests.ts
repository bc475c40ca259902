/** The requests of a batch that another node made, as this one applies them. */
import { admit, type Network, type Refusal, type Verified } from '../../engine/internal.js';
import { type Input, OrderError, type OrderedBatch } from '../order/order.js';

/** A request of a batch, and what the batch says of it. */
export interface ReadRequest {
  input: Input;
  verified: Verified;
}

/**
 * They are taken as verified, since the node that let them in has done that; or verified again. A
 * request that no node lets in is skipped: all nodes have the same bytes, and so all skip it.
 *
 * @param skip reports one.
 * @throws {OrderError} `FOREIGN` for a signature that does not hold, which other nodes have not
 *   verified.
 */
export async function readRequests(
  { node, position, inputs }: OrderedBatch,
  network: Pick<Network, 'genesis' | 'verification'>,
  { verifyAll, skip }: { verifyAll: boolean; skip: (why: string) => void },
): Promise<ReadRequest[]> {
  const { genesis, verification } = network;
  const read = inputs.map(async (input, index): Promise<ReadRequest | null> => {
    const told = ({ reason, message }: Refusal) =>
      `request ${index} of batch ${position.version}, by node ${node}: ${reason}, ${message}`;
    const { request, failedTransaction } = input;
    const admitted = admit(request, genesis.network_id);
    if ('refusal' in admitted) {
      skip(`${told(admitted.refusal)}; every node skips it`);
      return null;
    }
    if (!verifyAll) {
      return { input, verified: verification.elsewhere(admitted, failedTransaction) };
    }
    const verified = await verification.all(admitted);
    if (!('refusal' in verified)) return { input, verified };
    const expected = 'expected: the same version, and signatures that hold';
    throw new OrderError('FOREIGN', `${told(verified.refusal)}; ${expected}`);
  });
  return (await Promise.all(read)).filter((one) => one !== null);
}
