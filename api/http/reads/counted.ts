/** Reads count against their address, and their answers show what it has left. */
import type { Body } from '../../transport/transport.js';
import type { Call, Handler } from '../handler.js';
import { unitsOf } from '../request/request-budget.js';
import type { Answer } from '../response/envelope.js';
import { jsonResponse, success } from '../response/envelope.js';
import { beyond, withQuota } from '../response/quota-answers.js';
import type { ReadResult } from './parameters.js';
import { type Read, resultOf } from './reads.js';

export const counted =
  (handle: Handler, cost = 1): Handler =>
  (call) => {
    const { limits } = call.services;
    if (!limits.figures) return inTurn(handle, call);
    const { addressKey } = call.budget;
    const taken = limits.take('read', addressKey, cost - 1 + readCost(call.body));
    if ('exceeded' in taken) return beyond(taken.exceeded);
    const left = limits.quota('read', addressKey);
    const answer = inTurn(handle, call);
    if (!(answer instanceof Promise)) return withQuota(answer, left);
    return answer.then((later) => withQuota(later, left));
  };

/** Large bodies one after the other. */
function inTurn(handle: Handler, call: Call): ReturnType<Handler> {
  const turn = call.services.large.turn(call.body.length);
  return turn ? turn.then(() => handle(call)) : handle(call);
}

/** One, and more for what has a large body: `debug/verify`. */
const readCost = (body: Body): number =>
  body === 'unread' || body.length === 0 ? 1 : unitsOf(body.length);

/** A read of what is committed. */
export const committed = (read: Read): Handler =>
  counted(({ services: { network }, params, head }) => {
    const result = resultOf(read, { network, params, query: queryOf(head.target) });
    return result instanceof Promise ? result.then(answerOf) : answerOf(result);
  });

const answerOf = (result: ReadResult): Answer =>
  'refusal' in result ? result : shown(result.data);

/** Views that are asked for again are the same object: its text is made once. */
const texts = new WeakMap<object, string>();

function shown(data: unknown): Answer {
  if (typeof data !== 'object' || data === null) return success(200, data);
  const known = texts.get(data);
  if (known !== undefined) return jsonResponse(200, known);
  const response = success(200, data);
  texts.set(data, String(response.body));
  return response;
}

const noQuery = new URLSearchParams();

export function queryOf(target: string): URLSearchParams {
  const from = target.indexOf('?');
  return from < 0 ? noQuery : new URLSearchParams(target.slice(from + 1));
}
