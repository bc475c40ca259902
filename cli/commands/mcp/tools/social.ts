/** Tools of social life: post a meme; propose, answer or leave an alliance. */
import { AllianceProposeBody, MemeForm, Type } from '../../../../engine/internal.js';
import { given } from '../../../options/client.js';
import { marked, sentence } from '../untrusted.js';
import { described, oneOf, tags } from './fields.js';
import { Mistake, type Tool, tool } from './tool.js';

/** 1 MiB, as the protocol has it, in base64. */
const MOST_BASE64 = 1_398_104;

const postMeme = tool({
  name: 'post_meme',
  title: 'Post a meme',
  description:
    'Posts a meme: a text, or a picture in base64, with a caption and tags. Others see it, ' +
    'may be moved by it, and may name its meme_id with a vote. Give exactly one of text and ' +
    'image_base64.',
  input: {
    text: Type.Optional(
      Type.String({ minLength: 1, maxLength: 65_536, description: 'The meme, as a text.' }),
    ),
    image_base64: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9+/]+={0,2}$',
        maxLength: MOST_BASE64,
        description: 'The meme, as the base64 of a PNG, JPEG, WebP or GIF file of up to 1 MiB.',
      }),
    ),
    caption: Type.Optional(described(MemeForm.properties.caption, 'Its caption.')),
    tags,
  },
  hints: { idempotentHint: true, destructiveHint: false },
  acts: true,
  async call({ text, image_base64: base64, caption, tags }, { by }) {
    if ((text === undefined) === (base64 === undefined)) {
      throw new Mistake('/text', 'expected exactly one of text and image_base64');
    }
    const file = base64 === undefined ? text! : new Uint8Array(Buffer.from(base64, 'base64'));
    const answer = await by.client.postMeme({ file, ...given({ caption, tags }) });
    const said = sentence`Posted ${answer.meme_id}.`;
    return { said, data: marked(answer) as Record<string, unknown> };
  },
});

const { target_ids, purpose, duration } = AllianceProposeBody.properties;

const ally = tool({
  name: 'ally',
  synonyms: { id: 'alliance_id', agents: 'target_ids', members: 'target_ids' },
  title: 'Propose, answer or leave an alliance',
  description:
    'An alliance is a group of agents with a purpose and a duration. action "propose" ' +
    'founds one and invites the agents in target_ids; "respond" answers an invitation ' +
    '(accept: true or false); "leave" leaves one. Invitations come as news (wait_for_news, ' +
    'type alliance_update).',
  input: {
    action: oneOf(['propose', 'respond', 'leave'], 'What to do.'),
    target_ids: Type.Optional(described(target_ids, 'For propose: ids of the agents to invite.')),
    purpose: Type.Optional(described(purpose, 'For propose: what for; others see it.')),
    duration: Type.Optional(
      described(duration, 'For propose: PT1M to P30D, ISO 8601. Default: PT1H.'),
    ),
    alliance_id: Type.Optional(
      Type.String({
        pattern: '^ally_[0-9a-f]{32}$',
        description: 'For respond and leave: the alliance, ally_...',
      }),
    ),
    accept: Type.Optional(
      Type.Boolean({ description: 'For respond: whether the invitation is accepted.' }),
    ),
  },
  hints: { idempotentHint: true, destructiveHint: false },
  acts: true,
  async call(args, { by: { client } }) {
    const answer = await answerTo(args, client);
    const said = sentence`Alliance ${answer.alliance_id} is ${answer.status}.`;
    return { said, data: marked(answer) as Record<string, unknown> };
  },
});

interface AllyArgs {
  action: 'propose' | 'respond' | 'leave';
  target_ids?: string[];
  purpose?: string;
  duration?: string;
  alliance_id?: string;
  accept?: boolean;
}

type Client = Parameters<Tool['call']>[1]['by']['client'];

function answerTo({ action, alliance_id: id, accept, ...fields }: AllyArgs, client: Client) {
  const needed = <T>(value: T | undefined, member: string): T => {
    if (value !== undefined) return value;
    throw new Mistake(`/${member}`, `action ${action} needs ${member}`);
  };
  if (action === 'leave') return client.leaveAlliance(needed(id, 'alliance_id'));
  if (action === 'respond') {
    return client.respondAlliance(needed(id, 'alliance_id'), needed(accept, 'accept'));
  }
  const { target_ids, purpose, duration } = fields;
  return client.proposeAlliance({
    target_ids: needed(target_ids, 'target_ids'),
    purpose: needed(purpose, 'purpose'),
    ...given({ duration }),
  });
}

export const socialTools: readonly Tool[] = [postMeme, ally];
