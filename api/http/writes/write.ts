/**
 * One write request from bytes to a signature that holds, in the fixed order of checks. What a
 * caller did wrong costs as little as possible, and never the quota of somebody whose key was not
 * used.
 */
import {
  type Admitted,
  type CommandKind,
  freshness,
  knownKey,
  type Refusal,
} from '../../../engine/internal.js';
import { admittedOf } from '../../checks/admitted.js';
import { unknownFields } from '../../checks/unknown-members.js';
import { mistakeOf, withMistake } from '../explain/mistakes.js';
import { unknownInput } from '../explain/signature.js';
import type { Call, Handler } from '../handler.js';
import { signedRequest } from '../request/signed-request.js';
import { type Answer, type Refused, withUnknown } from '../response/envelope.js';
import { beyond } from '../response/quota-answers.js';
import { apply } from './apply.js';
import { refuseExplained, refuseUnsigned } from './refuse.js';

/** The handler of a kind of command. */
export const write =
  (kind: CommandKind): Handler =>
  (call) =>
    handle(kind, call);

async function handle(kind: CommandKind, call: Call): Promise<Answer> {
  const { services, head } = call;
  const { network } = services;
  // What was not read has a problem, and does not come here.
  const body = call.body as Uint8Array;
  const turn = services.large.turn(body.length);
  if (turn) await turn;
  const reading = signedRequest(kind, { target: head.target, headers: head.headers, body });
  const request = reading instanceof Promise ? await reading : reading;
  if ('refusal' in request) return request;
  const { admission, unknown } = admittedOf(request, network.genesis.network_id);
  const answer =
    'refusal' in admission
      ? refuseUnsigned(call, kind, admission.refusal, unknownInput)
      : await decide(call, admission);
  return withUnknown(answer, [...unknownFields(request.unknownFields), ...unknown]);
}

/** Checks the signature of a well-formed request, and applies it. */
async function decide(call: Call, admitted: Admitted): Promise<Answer> {
  const { services, budget } = call;
  const { network, attempts } = services;
  const { kind } = admitted.command;
  // Its registration may have come by another node, and not be applied here yet.
  if (network.barrier && !network.knows(admitted.command.public_key)) {
    const late = admitted.command.kind === 'register' ? null : await network.barrier();
    if (late) return { refusal: late };
  }
  const early =
    knownKey(admitted.command, network.knows) ?? freshness(admitted.signedAt, services.now());
  if (early) return refuseUnsigned(call, kind, early, admitted);
  const reserving = attempts.reserve(budget);
  const reservation = reserving instanceof Promise ? await reserving : reserving;
  if ('exceeded' in reservation) return beyond(reservation.exceeded);
  let failed = false;
  try {
    const { verification } = network;
    const refusal = call.held ? verification.held(admitted) : await verification.own(admitted);
    failed = refusal?.reason === 'MISMATCH';
    if (refusal) return await mismatch(call, refusal, admitted);
  } finally {
    attempts.release(reservation, failed);
  }
  budget.vouch();
  return await apply(call, admitted);
}

/** The signature does not fit: the first few of a claim in a minute are looked into. */
async function mismatch(call: Call, refusal: Refusal, admitted: Admitted): Promise<Refused> {
  const { services, head, budget } = call;
  const found =
    refusal.reason === 'MISMATCH' && services.attempts.mayExplain(budget)
      ? await mistakeOf(services.network, admitted, head.headers.get('host') ?? '')
      : null;
  const explained = found ? withMistake(refusal, found) : refusal;
  return refuseExplained(call, admitted.command.kind, explained, admitted);
}
