/** Questions and answers as JSON Schema, for whoever writes one: docs/deciders.schema.json. */
import { Decision, type TProperties, Type } from '../../../engine/internal.js';
import { occasions } from '../../scenario/schema/deciders/asked.js';
import { Answer } from './answer.js';

const about = (description: string) => ({ description });
const shape = <P extends TProperties>(members: P, description: string) =>
  Type.Object(members, { additionalProperties: false, description });
const count = (description: string) => Type.Integer({ minimum: 0, ...about(description) });
const ordinal = (description: string) => Type.Integer({ minimum: -1, ...about(description) });
const text = (description: string) => Type.String(about(description));
const yes = (description: string) => Type.Boolean(about(description));
const ordinals = (description: string) =>
  Type.Array(Type.Integer({ minimum: 0 }), about(description));
const anything = (description: string) =>
  Type.Record(Type.String(), Type.Unknown(), about(description));
const or = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) =>
  Type.Union([schema, Type.Null()]);

const alliance = (description: string) =>
  shape({ id: text('its id'), members: ordinals('who is in it') }, description);
const by = { agent: ordinal('whose'), group: text('its group') };

const Block = shape(
  {
    producer: ordinal('who made it; -1 for a stranger'),
    producer_group: text("the producer's group"),
    number: count('counts the blocks of its producer, from 0'),
    soundness: Type.Integer({ minimum: 0, maximum: 100, ...about('percent that add up') }),
    has_meme: yes('whether it carries a meme'),
    age_ms: count('since it was proposed'),
    votes: Type.Array(
      shape({ ...by, decision: Decision, ally: yes('they share an alliance') }, 'of a neighbour'),
      about('that the agent has heard of'),
    ),
    memes: Type.Array(
      shape({ stance: Decision, text: text('what it says') }, 'about the block'),
      about('that it has heard of'),
    ),
    remarks: Type.Array(
      shape({ ...by, stance: or(Decision), message: text('what was said') }, 'of a neighbour'),
      about('that it has heard'),
    ),
    transactions: Type.Array(Type.String(), about('what each of them says')),
  },
  'the block that the question is about',
);

const View = shape(
  {
    now_ms: count('since the run began'),
    me: shape(
      {
        ordinal: count('counts the agents of the scenario, from 0'),
        name: text('its name'),
        group: text('its group'),
        personality: text('its personality'),
      },
      'the agent',
    ),
    on_break: yes('its status is something else than active'),
    reputation: Type.Number({ minimum: 0, maximum: 100, ...about('as it was last told') }),
    neighbours: ordinals('whom it hears, and who hear it'),
    alliances: Type.Array(alliance('one of its own'), about('that it is a member of')),
    head: shape(
      {
        contested: yes('it knows of a block in voting on the head'),
        own: yes('one of these is its own'),
      },
      'the head as it knows it',
    ),
    block: or(Block),
    round: count('counts the questions about this vote, from 0'),
    invitation: or(alliance('what it is invited to')),
    message: or(
      shape(
        {
          from: ordinal('who sent it'),
          group: text("the sender's group"),
          content: Type.Unknown(about('plain data')),
        },
        'what a neighbour has sent',
      ),
    ),
    parameters: anything('of the strategy in the scenario'),
    memory: anything('what the last answer for this agent gave; empty at first'),
    chance: count('drawn for this question: for a decider that wants chance'),
  },
  'what the agent sees',
);

export const QuestionSchema = shape(
  {
    protocol: Type.Literal(1),
    id: text('names the question among all of the run: agent, kind and number'),
    agent: count('whom it is about'),
    kind: Type.Enum(occasions, about('why the agent is called')),
    number: count('counts the questions of this kind to the agent, from 0'),
    view: View,
  },
  'a question to a decider',
);

/** Draft 2020-12. */
export const deciderSchema = (): object => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:folkmoot:decider',
  title: 'Folkmoot decider',
  $defs: { question: QuestionSchema, answer: Answer },
  oneOf: [{ $ref: '#/$defs/question' }, { $ref: '#/$defs/answer' }],
});
