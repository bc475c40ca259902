/** /api/v1/debug/ws: what the server knows of a connection, for its owner. */
import { refuse } from '../../../engine/internal.js';
import { httpInput, sha256Hex } from '../../../engine/protocol/signing.js';
import { holds, signatureProblemOf } from '../../checks/signed-text.js';
import type { Call, Handler } from '../handler.js';
import { success } from '../response/envelope.js';

/** To everybody else it does not exist. */
export const debugSocket: Handler = async (call) => {
  const publicKey = await readerOf(call);
  const [id = ''] = call.params;
  const shown = publicKey === null ? null : call.services.connections.show(id, publicKey);
  if (shown) return success(200, shown);
  return { refusal: refuse('UNKNOWN_CONNECTION', 'no connection of yours has this id') };
};

/** The key that signed a read, or null. */
async function readerOf({ services, head }: Call): Promise<string | null> {
  const { network, now } = services;
  const { method, target, headers } = head;
  const header = (name: string) => headers.get(name) ?? '';
  const publicKey = header('x-agent-public-key').toLowerCase();
  const timestamp = header('x-timestamp');
  const signed = { publicKey, timestamp, signature: header('x-agent-signature') };
  if (signatureProblemOf(signed, network.knows, now())) return null;
  const input = httpInput({ method, target, timestamp, bodySha256: sha256Hex('') });
  return (await holds(network, signed, input)) ? publicKey : null;
}
