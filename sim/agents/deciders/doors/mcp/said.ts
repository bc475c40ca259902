/** What a tool's result says: its structured content, or else its text as JSON. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { parseJson } from '../../../../../engine/internal.js';
import { LARGEST_ANSWER_BYTES, plainLine } from '../../answer.js';
import { NoAnswer } from '../door.js';

/** @throws {NoAnswer} */
export function valueIn({ isError, structuredContent, content }: CallToolResult): unknown {
  const texts = content.flatMap((one) => (one.type === 'text' ? [one.text] : []));
  if (isError) throw new NoAnswer('refused', plainLine(`its tool failed: ${texts.join(' ')}`));
  const given = structuredContent && bare(structuredContent);
  if (given !== undefined && typeof given !== 'string') return checked(written(given));
  if (given === undefined && texts.length === 0) {
    throw new NoAnswer('wrong', 'its result has neither structured content nor a text');
  }
  return checked(given ?? texts.join('\n'));
}

/** The SDK for Python puts what is no object into one, as its member `result`. */
function bare(structured: Record<string, unknown>): unknown {
  const wrapped = Object.keys(structured).length === 1 && 'result' in structured;
  return wrapped ? structured.result : structured;
}

/** By the one reader of JSON, whatever the SDK has read before. */
function checked(text: string): unknown {
  const bytes = Buffer.from(text);
  if (bytes.length > LARGEST_ANSWER_BYTES) {
    throw new NoAnswer('too_long', `it said more than ${LARGEST_ANSWER_BYTES} bytes`);
  }
  const parsed = parseJson(bytes);
  if ('value' in parsed) return parsed.value;
  throw new NoAnswer('no_json', plainLine(parsed.message));
}

function written(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new NoAnswer('no_json', plainLine(error));
  }
}
