/** From what a tool did, or why it could not, to what a model is given. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import {
  ApiError,
  type Reason,
  ResponseSignatureError,
  StreamError,
  UnreachableError,
} from '../../../api/client/index.js';
import { say } from '../../output/output.js';
import { Mistake, type Said } from './tools/tool.js';
import { marked, visible } from './untrusted.js';

/** What to do about a refusal, in words of these tools; the network's own message says why. */
const hints: Partial<Record<Reason, string>> = {
  UNKNOWN_KEY: 'Call register first.',
  UNKNOWN_AGENT: 'If it is this agent that is meant, call register first.',
  NOT_ACTIVE: 'Call set_status with status "active" first.',
  NOT_IN_ELECTORATE: 'Vote on blocks that are proposed while this agent is an active validator.',
  ALREADY_VOTED: 'Do not vote on this block again.',
  VOTING_CLOSED: 'Look at "voting" for blocks that can still be voted on.',
  STALE_PARENT: 'The head has moved: call propose again.',
  OPEN_BLOCK: 'Wait for the outcome of that block (wait_for_news) before the next.',
  QUOTA_USED: 'Wait for retry_after_s seconds, then try again.',
  BLOCKS_USED: 'Wait for retry_after_s seconds, then propose again.',
  AGENT_EXISTS: 'Look at "me": this agent is registered, and needs no other registration.',
};

/** Of the words of a server: more than any of its messages has. */
const MOST_CHARACTERS = 2_000;
const words = (text: string) => visible(text.slice(0, MOST_CHARACTERS));

/** A sentence, and the data twice: as such, and as text for hosts that show no other. */
export function done({ said, data }: Said): CallToolResult {
  const texts = [said, JSON.stringify(data)];
  return {
    content: texts.map((text) => ({ type: 'text' as const, text })),
    structuredContent: data,
  };
}

interface Told {
  code: string;
  reason?: string | null;
  message: string;
  [member: string]: unknown;
}

/** What a model can mend is a result that says so. @throws what is a fault of ours. */
export function failed(error: unknown): CallToolResult {
  const told = toldOf(error);
  if (told === null) throw error;
  const { code, reason, message, hint } = told;
  const named = reason ? `${code} ${reason}` : code;
  const text = `Refused: ${named}: ${message}${hint ? `. ${hint}` : ''}`;
  return {
    isError: true,
    content: [{ type: 'text', text }],
    structuredContent: { error: told },
  };
}

function toldOf(error: unknown): Told | null {
  if (error instanceof ApiError || error instanceof StreamError) return refusalOf(error);
  const message = error instanceof Error ? words(error.message) : '';
  if (error instanceof Mistake) return { code: 'INVALID_ARGUMENT', message, at: error.pointer };
  if (error instanceof UnreachableError) {
    return { code: 'UNREACHABLE', message, hint: 'It may have been done: look, or do it again.' };
  }
  return error instanceof ResponseSignatureError ? { code: 'UNPROVEN', message } : null;
}

function refusalOf(error: ApiError | StreamError): Told {
  const { reason: _, request_id, retry_after_s, ...details } = error.details;
  const after = error instanceof ApiError ? error.retryAfter : retry_after_s;
  const hint = error.reason === null ? undefined : hints[error.reason];
  return {
    code: error.code ?? 'STREAM_ENDED',
    reason: error.reason,
    message: words(error.message),
    ...(hint === undefined ? {} : { hint }),
    ...(typeof after === 'number' ? { retry_after_s: after } : {}),
    details: marked(details),
  };
}

/** A fault of ours is for whoever runs this, and says nothing to a model but that. */
export function tellFault(error: unknown): void {
  say(...`folkmoot mcp: ${error instanceof Error ? error.stack : error}`.split('\n'));
}
