/** A request as the server admits it: as the engine does, unless it is too costly to check. */
import {
  type Admission,
  admit,
  limits,
  parseJson,
  type SignedRequest,
} from '../../engine/internal.js';
import { tooManyValues } from './json-size.js';
import { type UnknownName, unknownMembers } from './unknown-members.js';

/** An admission, and the names in the body that the protocol does not know. */
export interface Received {
  admission: Admission;
  unknown: readonly UnknownName[];
}

const none: readonly UnknownName[] = [];

export function admittedOf(request: SignedRequest, networkId: string): Received {
  const many = tooManyValues(request.body);
  if (many) return { admission: { refusal: many }, unknown: none };
  const admission = admit(request, networkId);
  if ('refusal' in admission) {
    const { reason } = admission.refusal;
    return { admission, unknown: reason === 'SCHEMA' ? unknownIn(request) : none };
  }
  const { names, refusal } = unknownMembers(request.kind, admission.raw);
  return { admission: refusal ? { refusal } : admission, unknown: names };
}

/** Of a refused body: a mistyped name is often why another member is missing. */
function unknownIn({ kind, body }: SignedRequest): readonly UnknownName[] {
  if (body.length > limits.bodyBytes) return none;
  const parsed = parseJson(body);
  return 'message' in parsed ? none : unknownMembers(kind, parsed.value).names;
}
