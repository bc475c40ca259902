/** Chat completions, as OpenAI and many model servers have them: prompts out, one message back. */
import { parseJson } from '../../../../engine/internal.js';
import { plainLine } from '../answer.js';
import type { Question } from '../question.js';
import { NoAnswer, sent } from './door.js';
import type { Dialect } from './http.js';

export interface ChatOptions {
  model: string;
  /** Texts by `system` and by the kind of question. */
  prompts: ReadonlyMap<string, string>;
  /** Further members of the request. */
  request: Readonly<Record<string, unknown>>;
}

interface Completion {
  choices?: { message?: { content?: unknown } }[];
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown };
}

export const chatDialect = ({ model, prompts, request }: ChatOptions): Dialect => ({
  bodyOf(question) {
    const system = prompts.get('system');
    const content = filled(prompts.get(question.kind) ?? '{{question}}', question);
    return {
      ...request,
      model,
      messages: [
        ...(system === undefined ? [] : [{ role: 'system', content: filled(system, question) }]),
        { role: 'user', content },
      ],
    };
  },
  saidIn(value) {
    const { choices, usage } = (value ?? {}) as Completion;
    const content = Array.isArray(choices) ? choices[0]?.message?.content : undefined;
    if (typeof content !== 'string') {
      throw new NoAnswer('wrong', 'its completion has no text at choices.0.message.content');
    }
    const parsed = parseJson(Buffer.from(bare(content)));
    if (!('value' in parsed)) throw new NoAnswer('no_json', plainLine(parsed.message));
    const counted = tokensIn(usage ?? {});
    return { value: parsed.value, ...(counted ? { usage: counted } : {}) };
  },
});

/** Models like to put JSON into a fence of Markdown. */
const bare = (content: string): string =>
  /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(content)?.[1] ?? content;

function tokensIn({ prompt_tokens: read, completion_tokens: wrote }: Completion['usage'] & object) {
  const isCount = (value: unknown): value is number =>
    Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 1_000_000_000;
  if (!isCount(read) && !isCount(wrote)) return null;
  return {
    ...(isCount(read) ? { input_tokens: read } : {}),
    ...(isCount(wrote) ? { output_tokens: wrote } : {}),
  };
}

/** `{{question}}` and members of it, as `{{view.block.soundness}}`; what is no text, as JSON. */
function filled(template: string, question: Question): string {
  const known: Record<string, unknown> = { question: sent(question), ...sent(question) };
  return template.replace(/\{\{\s*([a-z_][\w.]*)\s*\}\}/g, (_, path: string) => {
    let at: unknown = known;
    for (const step of path.split('.')) {
      const named = typeof at === 'object' && at !== null && Object.hasOwn(at, step);
      at = named ? (at as Record<string, unknown>)[step] : null;
    }
    return typeof at === 'string' ? at : JSON.stringify(at);
  });
}
