/** /api/v1/debug/verify: what the server would have verified of a request, and whether it holds. */
import {
  type Admitted,
  type carriage,
  formatInstant,
  parseJson,
  type Refusal,
  refuse,
  type ServedNetwork,
  type Static,
  validator,
} from '../../../engine/internal.js';
import { sha256Hex } from '../../../engine/protocol/signing.js';
import { admittedOf } from '../../checks/admitted.js';
import { tooManyValues } from '../../checks/json-size.js';
import { unknownFields, unknownParameters } from '../../checks/unknown-members.js';
import { DebugVerifyBody } from '../../contract/answers.js';
import { createMatcher } from '../../contract/match.js';
import { routes } from '../../contract/routes.js';
import { mistakeOf, withMistake } from '../explain/mistakes.js';
import type { Handler } from '../handler.js';
import { mediaProblem, signedRequest } from '../request/signed-request.js';
import { success } from '../response/envelope.js';

const match = createMatcher(routes);
const problemOf = validator(DebugVerifyBody);

/** A request as it would come, with the command that it would be. */
interface Described {
  kind: keyof typeof carriage;
  target: string;
  headers: ReadonlyMap<string, string>;
  body: Uint8Array;
}

/** Changes nothing. */
export const debugVerify: Handler = async ({ services: { network, now }, body }) => {
  const described = describedIn(body === 'unread' ? new Uint8Array() : body);
  if ('refusal' in described) return described;
  const { kind, headers } = described;
  const media = mediaProblem(kind, headers, described.body.length > 0);
  const signed = media ? { refusal: media } : await signedRequest(kind, described);
  const { admission, unknown: members } =
    'refusal' in signed
      ? { admission: signed, unknown: [] }
      : admittedOf(signed, network.genesis.network_id);
  const fields = 'refusal' in signed ? [] : unknownFields(signed.unknownFields);
  const unknown = [...fields, ...members, ...unknownParameters(described.target, [])];
  if ('refusal' in admission) {
    return success(200, { valid: false, ...refusalShown(admission.refusal), unknown });
  }
  const verified = await verification(network, described, admission, now);
  return success(200, { ...verified, unknown });
};

/** The request in a JSON envelope, or why there is none. */
function describedIn(sent: Uint8Array): Described | { refusal: Refusal } {
  const many = tooManyValues(sent);
  if (many) return { refusal: many };
  const parsed = parseJson(sent);
  const problem = 'message' in parsed ? parsed : problemOf(parsed.value);
  if (problem || 'message' in parsed) {
    const { pointer, message } = problem as { pointer: string; message: string };
    const reason = 'message' in parsed ? 'BAD_JSON' : 'SCHEMA';
    return { refusal: refuse(reason, `${pointer || 'the body'} ${message}`, { pointer }) };
  }
  const { method, target, headers, body } = parsed.value as Static<typeof DebugVerifyBody>;
  const kind = match(method.toUpperCase(), target.split('?', 1)[0]!)?.route?.command;
  if (!kind) {
    const message = `${method} ${target.slice(0, 256)} is not a signed request`;
    return { refusal: refuse('UNKNOWN_ROUTE', message, { pointer: '/target' }) };
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
  const refusal = await network.verification.own(admitted);
  const host = headers.get('host') ?? '';
  const found = refusal?.reason === 'MISMATCH' ? await mistakeOf(network, admitted, host) : null;
  const explained = refusal && found ? withMistake(refusal, found) : refusal;
  // Whether a key is known may rest on a registration that is not durable yet.
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
