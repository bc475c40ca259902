/** A decider that is a tool of an MCP server, which is started, or listens at a URL. */
import { Type } from '../../../../engine/internal.js';
import { about, whole } from '../terms.js';
import { asked } from './asked.js';
import { Command, Variables } from './exec.js';
import { Address, KeyVariable } from './http.js';

export const mcp = {
  tool: Type.String({
    minLength: 1,
    maxLength: 200,
    ...about('name of the tool; a question is its arguments, an answer its result'),
  }),
  command: Type.Optional(Command),
  url: Type.Optional(Address('instead of a command: where the server listens; http or https')),
  env: Variables,
  key_env: KeyVariable,
  most_at_once: whole(
    1,
    64,
    'sessions, each asked one question at a time; of a command, each has a process of its own',
    4,
  ),
  ...asked,
};
