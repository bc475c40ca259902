/** Chat completions, as OpenAI and many model servers have them: prompts out, one message back. */
import { parseJson } from '../../../../engine/internal.js';
import { plainLine, usageOf } from '../answer.js';
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
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown } | null;
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
    const { choices, usage: reported } = (value ?? {}) as Completion;
    const usage = usageOf(reported?.prompt_tokens, reported?.completion_tokens);
    const content = Array.isArray(choices) ? choices[0]?.message?.content : undefined;
    if (typeof content !== 'string') {
      const problem = 'its completion has no text at choices.0.message.content';
      throw new NoAnswer('wrong', problem, { usage });
    }
    const parsed = parseJson(Buffer.from(bare(content)));
    if (!('value' in parsed)) throw new NoAnswer('no_json', plainLine(parsed.message), { usage });
    return { value: parsed.value, ...(usage ? { usage } : {}) };
  },
});

/** Models like to put JSON into a fence of Markdown. */
const bare = (content: string): string =>
  /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(content)?.[1] ?? content;

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
