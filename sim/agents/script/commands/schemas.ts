/** What a script can have its agent do: the schema of each command, told apart by `do`. */
import { Decision, type TProperties, Type } from '../../../../engine/internal.js';
import { LONGEST_MESSAGE_BYTES } from '../plain-data.js';

const about = (description: string) => ({ description });
const Text = (description: string) =>
  Type.String({ minLength: 1, maxLength: 1_000, ...about(description) });
const whole = (minimum: number, maximum: number, description: string) =>
  Type.Integer({ minimum, maximum, ...about(description) });
const Stance = (description: string) => Type.Enum([...Decision.enum], about(description));

const command = <K extends string, P extends TProperties>(name: K, description: string, own: P) =>
  Type.Object({ do: Type.Literal(name), ...own } as const, {
    additionalProperties: false,
    description,
  });

/** By name; `vote`, `meme`, `say` and `wait` are about the block of the call. */
export const scriptCommands = {
  vote: command('vote', 'votes on the block', {
    decision: Stance('what it votes'),
    reason: Type.Optional(Text('why; else a sentence about its soundness')),
  }),
  meme: command('meme', 'posts a meme about the block', {
    stance: Stance('what it speaks for'),
    text: Type.Optional(Text('what it says; else a saying drawn by chance')),
  }),
  say: command('say', 'makes a remark about the block', {
    stance: Stance('what it speaks for'),
    message: Text('what it says'),
  }),
  wait: command('wait', 'calls `vote` for the block, again, after a while', {
    ms: whole(1, 3_600_000, 'how long'),
  }),
  propose: command('propose', 'proposes a block, unless it knows of one in voting on the head', {
    transactions: Type.Optional(whole(0, 1_000, 'how many; else drawn by the scenario')),
    sound: Type.Optional(
      Type.Boolean(about("whether they add up; else by the personality's care")),
    ),
    leave_out: Type.Optional(Type.String(about('a group whose transactions stay out'))),
  }),
  invite: command('invite', 'founds an alliance', {
    agents: Type.Array(Type.Integer({ minimum: 0 }), {
      minItems: 1,
      maxItems: 31,
      ...about('ordinals of whom it invites'),
    }),
  }),
  answer: command('answer', 'answers the invitation, in `invited`', {
    accept: Type.Boolean(about('whether it joins')),
  }),
  leave: command('leave', 'leaves an alliance', { alliance: Type.String(about('its id')) }),
  send: command('send', 'sends a message to neighbours, whose `receive` is called', {
    to: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0 }), {
        uniqueItems: true,
        ...about('ordinals of neighbours; left out, all of them'),
      }),
    ),
    content: Type.Unknown(
      about(`plain data, of at most ${LONGEST_MESSAGE_BYTES} bytes as canonical JSON`),
    ),
  }),
  wake: command('wake', 'calls `wake` after a while', { ms: whole(1, 86_400_000, 'how long') }),
  rest: command('rest', 'goes away for a while, by its status', {}),
  return: command('return', 'comes back', {}),
};
