/** The requests of a batch that another node made, as this one applies them. */
import { admit, type Network, type Verified } from '../../engine/internal.js';
import { type Input, OrderError, type OrderedBatch } from '../order/order.js';

/**
 * They are taken as verified, since the node that let them in has done that; or looked at again.
 *
 * @throws {OrderError} `FOREIGN` for what this node would not have let in.
 */
export async function readRequests(
  { node, position, inputs }: OrderedBatch,
  network: Pick<Network, 'genesis' | 'verification'>,
  verifyAll: boolean,
): Promise<Verified[]> {
  const read = inputs.map(async (input, index) => {
    const verified = await requestOf(input, network, verifyAll);
    if (!('refusal' in verified)) return verified;
    const which = `request ${index} of batch ${position.version}, which node ${node} made,`;
    const { reason, message } = verified.refusal;
    const why = `${which} is refused here: ${reason}, ${message}`;
    throw new OrderError('FOREIGN', `${why}; expected: the same version, and sound signatures`);
  });
  return Promise.all(read);
}

async function requestOf(
  { request, failedTransaction }: Input,
  { genesis, verification }: Pick<Network, 'genesis' | 'verification'>,
  verifyAll: boolean,
) {
  const admitted = admit(request, genesis.network_id);
  if ('refusal' in admitted) return admitted;
  if (verifyAll) return verification.all(admitted);
  return verification.elsewhere(admitted, failedTransaction);
}
