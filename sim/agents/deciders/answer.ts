/** What a decider may answer, its limits, and how whatever it answers is read. */
import { canonical, type Static, Type, validator } from '../../../engine/internal.js';
import { commandFor, type Doing } from '../script/commands/commands.js';
import { scriptCommands } from '../script/commands/schemas.js';
import { oneLine } from '../script/one-line.js';

/** What a decider may say at once, whatever carries it. */
export const LARGEST_ANSWER_BYTES = 262_144;
/** What an agent takes from one question to the next, as canonical JSON. */
const LARGEST_MEMORY_BYTES = 8_192;

/** The largest token count of one call. */
export const MOST_TOKENS = 1_000_000_000;

const about = (description: string) => ({ description });
const tokens = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: MOST_TOKENS, ...about(description) }));

/** Tokens that a call used; a member is left out where the decider does not report it. */
export interface Usage {
  input_tokens?: number;
  output_tokens?: number;
}

/** The counts in `input` and `output` that are possible; undefined when neither is. */
export function usageOf(input: unknown, output: unknown): Usage | undefined {
  const isCount = (value: unknown): value is number =>
    Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MOST_TOKENS;
  if (!isCount(input) && !isCount(output)) return undefined;
  return {
    ...(isCount(input) ? { input_tokens: input } : {}),
    ...(isCount(output) ? { output_tokens: output } : {}),
  };
}

/** A whole answer. One command, or a list of them, stands for an answer that has nothing else. */
export const Answer = Type.Object(
  {
    commands: Type.Array(Type.Union(Object.values(scriptCommands)), {
      maxItems: 16,
      ...about('what the agent does, in this order; all of it or, if one cannot be, nothing'),
    }),
    memory: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        ...about(`shown with its next question; at most ${LARGEST_MEMORY_BYTES} bytes`),
      }),
    ),
    thought: Type.Optional(
      Type.String({ maxLength: 4_000, ...about('why: kept in the cassette, told to nobody') }),
    ),
    usage: Type.Optional(
      Type.Object(
        { input_tokens: tokens('that a model read'), output_tokens: tokens('that it wrote') },
        { additionalProperties: false, ...about('what the answer cost') },
      ),
    ),
  },
  { additionalProperties: false },
);
export type Answer = Static<typeof Answer>;

/** The members beside commands, which are checked each by itself: what is said then names one. */
const Beside = Type.Object(
  { ...Answer.properties, commands: Type.Array(Type.Unknown(), { maxItems: 16 }) },
  { additionalProperties: false },
);
let checkBeside: ReturnType<typeof validator> | undefined;

/**
 * @throws {TypeError} saying what is no answer, or which command cannot be.
 */
export function answerOf(given: unknown, doing: Doing): Answer {
  const answer = whole(given);
  checkBeside ??= validator(Beside);
  const problem = checkBeside(answer);
  if (problem) throw new TypeError(`its answer ${problem.pointer} ${problem.message}`);
  const { commands, memory } = answer as Answer;
  for (const command of commands) commandFor(command, doing);
  const bytes = memory === undefined ? 0 : Buffer.byteLength(canonical(memory));
  if (bytes > LARGEST_MEMORY_BYTES) {
    const limit = `expected at most ${LARGEST_MEMORY_BYTES} as canonical JSON`;
    throw new TypeError(`its memory has ${bytes} bytes; ${limit}`);
  }
  const strange = /[^\P{Cc}\n\t]/u.exec(texts(answer));
  if (strange === null) return answer as Answer;
  const code = strange[0].codePointAt(0)!.toString(16).padStart(4, '0');
  throw new TypeError(`its answer holds the control character U+${code}`);
}

function whole(given: unknown): unknown {
  if (given === null) return { commands: [] };
  if (Array.isArray(given)) return { commands: given };
  return typeof given === 'object' && 'do' in given ? { commands: [given] } : given;
}

/** All texts in a value, one after another. */
function texts(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([key, member]) => key + texts(member))
    .join('');
}

/** A line that may be shown on a terminal and written down. */
export const plainLine = (cause: unknown): string =>
  oneLine(cause)
    .replace(/\p{Cc}/gu, '?')
    .toWellFormed();
