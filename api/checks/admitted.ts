/** A request as the server admits it: as the engine does, unless it is too costly to check. */
import { type Admission, admit, type SignedRequest } from '../../engine/internal.js';
import { tooManyValues } from './json-size.js';
import { unknownMembersProblem } from './unknown-members.js';

export function admittedOf(request: SignedRequest, networkId: string): Admission {
  const many = tooManyValues(request.body);
  if (many) return { refusal: many };
  const admitted = admit(request, networkId);
  if ('refusal' in admitted) return admitted;
  const refusal = unknownMembersProblem(request.kind, admitted.raw);
  return refusal ? { refusal } : admitted;
}
