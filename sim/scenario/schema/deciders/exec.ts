/** A decider that is a program. */
import { Type } from '../../../../engine/internal.js';
import { about, whole } from '../terms.js';
import { asked, variableName } from './asked.js';

export const Command = Type.Array(Type.String({ minLength: 1, maxLength: 4_000 }), {
  minItems: 1,
  maxItems: 100,
  ...about("program and arguments, started in the scenario's folder and by no shell"),
});
export const Variables = Type.Array(Type.String(variableName), {
  maxItems: 100,
  default: [],
  ...about('environment variables that it is given, beside PATH, HOME and their like'),
});
export const exec = {
  command: Command,
  processes: whole(1, 64, 'how many are started; an agent is always asked of the same one', 1),
  env: Variables,
  most_at_once: whole(1, 256, 'questions that one process is asked at once', 1),
  ...asked,
};
