/**
 * Diagnostic endpoints: metrics and health for operators, debug/verify, which verifies a request
 * and shows its signing input, and debug/socket, which shows a connection to its agent.
 */

import type { Admitted } from '../../engine/admit/admit.js';
import {
  badTimestampHeader,
  refuseKey,
  refuseSignature,
  refuseUnknownKey,
} from '../../engine/admit/credentials.js';
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import type { Static } from '../../engine/protocol/bundled/typebox.js';
import { parseJson, refuseJson } from '../../engine/protocol/json.js';
import type { carriage } from '../../engine/protocol/schema/entry.js';
import { formatInstant } from '../../engine/protocol/schema/primitives.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { refuseMember } from '../../engine/protocol/schema/validate.js';
import { validator } from '../../engine/protocol/schema/validator.js';
import { httpInput, sha256Hex } from '../../engine/protocol/signing.js';
import { excerptKey } from '../../engine/protocol/text.js';
import { ruleOf } from '../../engine/rules/network-rule.js';
import {
  admitReceived,
  findSignatureProblem,
  tooManyValues,
  verifySignature,
} from '../checks/request-checks.js';
import { unknownFields, unknownParameters } from '../checks/unknown-members.js';
import { createMatcher, routes } from '../contract/routes.js';
import { DebugVerifyBody } from '../contract/server.js';
import { refuseMediaType, signedRequest } from './bodies.js';
import type { Call, Handler } from './handler.js';
import { success } from './response.js';
import { addMistake, findMistake } from './signature-hints.js';

export const metrics: Handler = async ({ services }) => ({
  status: 200,
  headers: { 'Content-Type': services.metrics.type },
  body: await services.metrics.text(),
});

export const liveness: Handler = () => success(200, { status: 'ok' });

export const readiness: Handler = ({ services }) => {
  if (!services.ready()) return { refusal: refuse('NETWORK_CLOSED') };
  const cutOffMs = services.network.cutOffMs?.() ?? 0;
  if (cutOffMs === 0) return success(200, { status: 'ok' });
  return { refusal: refuse('NODE_CUT_OFF', { elapsed: Math.trunc(cutOffMs) }) };
};

const match = createMatcher(routes);
const problemOf = validator('debug_verify', DebugVerifyBody);

interface Described {
  kind: keyof typeof carriage;
  target: string;
  headers: ReadonlyMap<string, string>;
  body: Uint8Array;
}

/** Verifies a described request. Has no side effects. */
export const debugVerify: Handler = async ({ services: { network, now }, body }) => {
  const described = describedIn(body === 'unread' ? new Uint8Array() : body);
  if ('refusal' in described) return described;
  const { kind, headers } = described;
  const media = refuseMediaType(kind, headers, described.body.length > 0);
  const signed = media ? { refusal: media } : await signedRequest(kind, described);
  const { admission, unknown: members } =
    'refusal' in signed
      ? { admission: signed, unknown: [] }
      : admitReceived(signed, network.genesis.network_id, ruleOf(network.genesis).unreadMembers);
  const fields = 'refusal' in signed ? [] : unknownFields(signed.unknownFields);
  const names = [...fields, ...members, ...unknownParameters(described.target, [])];
  const unknown = names.map(({ at, closest }) => ({ at, closest }));
  if ('refusal' in admission) {
    return success(200, { valid: false, ...refusalShown(admission.refusal), unknown });
  }
  const verified = await verification(network, described, admission, now);
  return success(200, { ...verified, unknown });
};

function describedIn(sent: Uint8Array): Described | { refusal: Refusal } {
  const many = tooManyValues(sent);
  if (many) return { refusal: many };
  const parsed = parseJson(sent);
  if ('message' in parsed) return { refusal: refuseJson(parsed) };
  const problem = problemOf(parsed.value);
  if (problem) return { refusal: refuseMember(problem) };
  const { method, target, headers, body } = parsed.value as Static<typeof DebugVerifyBody>;
  const kind = match(method.toUpperCase(), target.split('?', 1)[0]!)?.route?.command;
  if (!kind) {
    const values = { method: method.slice(0, 32), target: target.slice(0, 256) };
    return { refusal: refuse('REQUEST_NOT_SIGNED', values, { pointer: '/target' }) };
  }
  const named = new Map(Object.entries(headers).map(([name, text]) => [name.toLowerCase(), text]));
  return { kind, target, headers: named, body: Buffer.from(body) };
}

async function verification(
  network: ServedNetwork,
  { kind, target, headers, body }: Described,
  admitted: Admitted,
  now: () => number,
) {
  const unknown = refuseUnknownKey(admitted.command, network.knows);
  const refusal = unknown ?? (await network.verification.own(admitted));
  const host = headers.get('host') ?? '';
  const found = refusal?.reason === 'MISMATCH' ? await findMistake(network, admitted, host) : null;
  const explained = refusal && found ? addMistake(refusal, found) : refusal;
  // A key may be known from a registration that is not yet durable.
  await network.durable;
  return {
    valid: refusal === null,
    kind,
    signing_input: Buffer.from(admitted.ownJob().message).toString(),
    expected_input_sha256: admitted.inputSha256(),
    body_sha256: sha256Hex(body),
    request_target: target,
    server_time: formatInstant(now()),
    skew_ms: admitted.signedAt - now(),
    ...(explained ? refusalShown(explained) : {}),
    ...(found ? { mistake: found.mistake } : {}),
  };
}

function refusalShown({ code, reason, message, pointer }: Refusal) {
  return { code, reason, message, pointer: pointer ?? null };
}

/** Shows a connection to its agent. Other agents get the refusal for an unknown id. */
export const debugSocket: Handler = async (call) => {
  const reader = await readerOf(call);
  if ('refusal' in reader) return reader;
  const [id = ''] = call.params;
  const shown = call.services.connections.show(id, reader.publicKey);
  if (shown) return success(200, shown);
  return { refusal: refuse('CONNECTION_UNKNOWN', { id: id.slice(0, 128) }) };
};

/** Returns the key that signed a read, or the refusal, which does not depend on the id. */
async function readerOf({
  services,
  head,
}: Call): Promise<{ publicKey: string } | { refusal: Refusal }> {
  const { network, now } = services;
  const { method, target, headers } = head;
  const header = (name: string) => headers.get(name) ?? '';
  const [key, timestamp] = [header('x-agent-public-key'), header('x-timestamp')];
  const signature = header('x-agent-signature');
  const signed = { publicKey: key.toLowerCase(), timestamp, signature };
  const problem =
    refuseKey(key) ??
    (timestamp === '' ? badTimestampHeader(timestamp) : null) ??
    refuseSignature(signature, 'header X-Agent-Signature') ??
    findSignatureProblem(signed, network.knows, now());
  if (problem) return { refusal: problem };
  const input = httpInput({ method, target, timestamp, bodySha256: sha256Hex('') });
  if (await verifySignature(network, signed, input)) return { publicKey: signed.publicKey };
  const details = { expected_input_sha256: sha256Hex(input), request_target: target };
  const values = {
    public_key: excerptKey(key),
    signature: excerptKey(signature),
    advice: `sign the text with sha256 ${details.expected_input_sha256}, over an empty body`,
  };
  return { refusal: refuse('SIGNATURE_MISTAKE', values, { details }) };
}
