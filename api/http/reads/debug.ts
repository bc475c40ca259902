/** The debug endpoints: what a server would have verified, and what it knows of a connection. */

import {
  limits as bounds,
  formatInstant,
  type Network,
  parseInstant,
  parseJson,
  type Refusal,
  refuse,
  Type,
  validator,
} from '../../../engine/internal.js';
import { httpInput, sha256Hex } from '../../../engine/protocol/signing.js';
import { admittedOf } from '../../checks/admitted.js';
import { tooManyValues } from '../../checks/json-size.js';
import { match } from '../../contract/routes.js';
import type { Connections } from '../../socket/connections.js';
import type { HttpRequest, HttpResponse } from '../../transport/transport.js';
import { mistakeOf, withMistake } from '../explain/mistakes.js';
import { mediaProblem, signedRequest } from '../request/signed-request.js';
import { failure, success } from '../response/envelope.js';

/** The same request in a JSON envelope. */
export const DebugVerifyBody = Type.Object({
  method: Type.String({ maxLength: 16 }),
  target: Type.String({ maxLength: 2048 }),
  headers: Type.Record(Type.String({ maxLength: 128 }), Type.String({ maxLength: 4096 })),
  body: Type.String(),
});

const problemOf = validator(DebugVerifyBody);

/** Changes nothing; says what would have been verified, and whether it holds. */
export async function debugVerify(
  network: Network,
  now: () => number,
  request: HttpRequest,
  requestId: string,
): Promise<HttpResponse> {
  const sent = request.body === 'unread' ? new Uint8Array() : request.body;
  const many = tooManyValues(sent);
  if (many) return failure(many, requestId);
  const parsed = parseJson(sent);
  const problem = 'message' in parsed ? parsed : problemOf(parsed.value);
  if (problem || 'message' in parsed) {
    const { pointer, message } = problem as { pointer: string; message: string };
    const reason = 'message' in parsed ? 'BAD_JSON' : 'SCHEMA';
    return failure(refuse(reason, `${pointer || 'the body'} ${message}`, { pointer }), requestId);
  }
  const { method, target, headers, body } = parsed.value as {
    method: string;
    target: string;
    headers: Record<string, string>;
    body: string;
  };
  const route = match(method.toUpperCase(), target.split('?', 1)[0]!)?.route;
  if (!route || !('write' in route)) {
    const message = `${method} ${target.slice(0, 256)} is not a signed request`;
    return failure(refuse('UNKNOWN_ROUTE', message, { pointer: '/target' }), requestId);
  }
  const named = new Map(Object.entries(headers).map(([name, text]) => [name.toLowerCase(), text]));
  const received = { target, headers: named, body: Buffer.from(body) };
  const media = mediaProblem(route.write, named, received.body.length > 0);
  const signed = media ? { refusal: media } : await signedRequest(route.write, received);
  const admitted = 'refusal' in signed ? signed : admittedOf(signed, network.genesis.network_id);
  if ('refusal' in admitted) {
    return success(200, { valid: false, ...refusalShown(admitted.refusal) });
  }
  const refusal = await network.verification.own(admitted);
  const host = named.get('host') ?? '';
  const found = refusal?.reason === 'MISMATCH' ? await mistakeOf(network, admitted, host) : null;
  const told = refusal && found ? withMistake(refusal, found) : refusal;
  // Whether a key is known may rest on a registration that is not durable yet.
  await network.durable;
  const own = admitted.ownJob();
  return success(200, {
    valid: refusal === null,
    kind: route.write,
    signing_input: Buffer.from(own.message).toString(),
    expected_input_sha256: admitted.inputSha256(),
    body_sha256: sha256Hex(received.body),
    request_target: target,
    server_time: formatInstant(now()),
    skew_ms: admitted.signedAt - now(),
    ...(told ? refusalShown(told) : {}),
    ...(found ? { mistake: found.mistake } : {}),
  });
}

function refusalShown({ code, reason, message, pointer }: Refusal) {
  return { code, reason, message, pointer: pointer ?? null };
}

/** A connection, for its owner; to everybody else it does not exist. */
export async function debugSocket(
  connections: Connections,
  network: Network,
  now: () => number,
  request: HttpRequest,
  id: string,
  requestId: string,
): Promise<HttpResponse> {
  const publicKey = await readerOf(network, now, request);
  const shown = publicKey === null ? null : connections.show(id, publicKey);
  if (shown) return success(200, shown);
  return failure(refuse('UNKNOWN_CONNECTION', 'no connection of yours has this id'), requestId);
}

/** The key that signed a read, or null. */
async function readerOf(
  network: Network,
  now: () => number,
  { method, target, headers }: HttpRequest,
): Promise<string | null> {
  const key = headers.get('x-agent-public-key') ?? '';
  const signature = headers.get('x-agent-signature') ?? '';
  const timestamp = headers.get('x-timestamp') ?? '';
  if (!/^[0-9a-fA-F]{64}$/.test(key) || !/^[0-9a-fA-F]{128}$/.test(signature)) return null;
  const at = parseInstant(timestamp);
  if (at === null || Math.abs(at - now()) > bounds.skewMs) return null;
  const input = httpInput({ method, target, timestamp, bodySha256: sha256Hex('') });
  const valid = await network.verification.text({
    publicKey: Buffer.from(key, 'hex'),
    message: Buffer.from(input),
    signature: Buffer.from(signature, 'hex'),
  });
  return valid ? key.toLowerCase() : null;
}
