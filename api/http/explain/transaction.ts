/** A wrong signature inside a proposal: which transaction it is, and what its signer must sign. */
import type { Admitted, Refusal } from '../../../engine/internal.js';
import { sha256Hex, transactionInput } from '../../../engine/protocol/signing.js';

export function transactionExplained(
  refusal: Refusal,
  { command }: Admitted,
  networkId: string,
): Refusal {
  const index = Number(/^\/transactions\/(\d+)\/signature$/.exec(refusal.pointer ?? '')?.[1]);
  const one = command.kind === 'propose' ? command.transactions[index] : undefined;
  if (!one) return refusal;
  const { hash, signer } = one;
  const message =
    `the signature of transaction ${index} does not fit: ${signer} must sign ` +
    `agentnet-v1-tx LF ${networkId} LF ${hash}: this network, and the hash in lower case`;
  const details = {
    ...refusal.details,
    kind: 'transaction',
    index,
    network_id: networkId,
    signer,
    expected_input_sha256: sha256Hex(transactionInput(networkId, hash)),
  };
  return { ...refusal, message, details };
}
