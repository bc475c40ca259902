/** Requests whose signature is in the header, signed in threads. */
import { httpInput, sha256Hex } from '../../../engine/protocol/signing.js';
import { type Signers, signatureBytes } from './signers.js';

export interface Unsigned {
  /** Ordinal of the agent. */
  agent: number;
  publicKey: string;
  method: 'POST' | 'PUT';
  target: string;
  timestamp: string;
  body: string;
}

export interface Signed extends Unsigned {
  headers: Record<string, string>;
  signedAtMs: number;
}

export async function signRequests(
  signers: Signers,
  requests: readonly Unsigned[],
): Promise<Signed[]> {
  const signatures = await signEach(
    signers,
    requests.map((request) => {
      const { method, target, timestamp, body } = request;
      const input = httpInput({ method, target, timestamp, bodySha256: sha256Hex(body) });
      return { agent: request.agent, input };
    }),
  );
  const signedAtMs = performance.now();
  return requests.map((request, index) => ({
    ...request,
    signedAtMs,
    headers: {
      'content-type': 'application/json',
      'x-agent-public-key': request.publicKey,
      'x-timestamp': request.timestamp,
      'x-agent-signature': signatures[index]!,
    },
  }));
}

/** The signatures of texts, hex. */
export async function signEach(
  signers: Signers,
  texts: readonly { agent: number; input: string }[],
): Promise<string[]> {
  const made = await signers.signatures({
    ordinals: texts.map(({ agent }) => agent),
    inputs: texts.map(({ input }) => input),
  });
  const all = Buffer.from(made.buffer, made.byteOffset, made.byteLength);
  return texts.map((_, index) => {
    return all.toString('hex', index * signatureBytes, (index + 1) * signatureBytes);
  });
}
