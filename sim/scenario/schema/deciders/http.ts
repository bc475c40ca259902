/** A decider at a URL. */
import { Type } from '../../../../engine/internal.js';
import { about, whole } from '../terms.js';
import { asked, occasions, variableName } from './asked.js';

const path = (description: string) =>
  Type.String({ minLength: 1, maxLength: 500, ...about(description) });

/** Where somebody listens. */
export const Address = (description: string) =>
  Type.String({ minLength: 1, maxLength: 2_000, pattern: '^https?://', ...about(description) });
/** A key is never part of a scenario. */
export const KeyVariable = Type.Optional(
  Type.String({
    ...variableName,
    ...about('environment variable with a key, which is sent as Authorization: Bearer'),
  }),
);

export const http = {
  url: Address('where questions are posted to; http or https'),
  dialect: Type.Enum(['folkmoot', 'openai'], {
    default: 'folkmoot',
    ...about('openai: chat completions, as many model servers have them'),
  }),
  key_env: KeyVariable,
  model: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, ...about('openai: name of the model') }),
  ),
  prompts: Type.Optional(
    Type.Object(
      {
        system: Type.Optional(path('a file: who the model is, and how it answers')),
        ...Object.fromEntries(
          occasions.map((name) => [
            name,
            Type.Optional(path(`a file: what is said at ${name}; else the question as JSON`)),
          ]),
        ),
      },
      { additionalProperties: false, ...about("openai: texts, files in the scenario's folder") },
    ),
  ),
  request: Type.Record(Type.String(), Type.Unknown(), {
    default: {},
    ...about('openai: further members of the request, such as temperature'),
  }),
  most_at_once: whole(1, 256, 'calls under way at once', 8),
  ...asked,
};
