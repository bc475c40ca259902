/** A request as the server admits it: as the engine does, unless it is too costly to look at. */
import { type Admission, admit, refuse, type SignedRequest } from '../engine/index.js';
import { hasMoreValues } from './json-size.js';
import { serverBounds } from './limit-table.js';
import { unknownMembersProblem } from './unknown-members.js';

export function admittedOf(request: SignedRequest, networkId: string): Admission {
  const most = serverBounds.jsonValues;
  if (hasMoreValues(request.body, most)) {
    const message = `the body has more than ${most} values`;
    return { refusal: refuse('BAD_JSON', message, { pointer: '' }) };
  }
  const admitted = admit(request, networkId);
  if ('refusal' in admitted) return admitted;
  const refusal = unknownMembersProblem(request.kind, admitted.raw);
  return refusal ? { refusal } : admitted;
}
