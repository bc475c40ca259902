/** Reads what a client sends over the WebSocket: a message out of the table, or what is wrong. */
import { parseJson, validator } from '../../engine/internal.js';
import { unknownPointers } from '../checks/unknown-members.js';
import { type ClientMessage, clientMessages } from '../contract/channels.js';

export type { ClientMessage };

type MessageType = keyof ClientMessage;
export type AnyClientMessage = ClientMessage[MessageType];

const problemOf = Object.fromEntries(
  Object.entries(clientMessages).map(([type, schema]) => [type, validator(schema)]),
) as Record<MessageType, ReturnType<typeof validator>>;

/** `unknown`: pointers to members that the message should not have, and that are ignored. */
type Read =
  | { message: AnyClientMessage; unknown: readonly string[] }
  | { problem: string; pointer?: string; unknown?: readonly string[] };

export function readClientMessage(text: string): Read {
  const parsed = parseJson(Buffer.from(text));
  if ('message' in parsed) return { problem: `a malformed message: ${parsed.message}` };
  const type = (parsed.value as { type?: unknown } | null)?.type;
  if (typeof type !== 'string' || !Object.hasOwn(clientMessages, type)) {
    const known = Object.keys(clientMessages).join(', ');
    return { problem: `an unknown message: type is one of ${known}` };
  }
  const problem = problemOf[type as MessageType](parsed.value);
  const unknown = unknownPointers(clientMessages[type as MessageType], parsed.value);
  if (!problem) return { message: parsed.value as AnyClientMessage, unknown };
  const { pointer, message } = problem;
  return { problem: `a malformed ${type}: ${pointer} ${message}`, pointer, unknown };
}
