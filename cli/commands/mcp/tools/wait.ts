/** The tool that waits for news: a long poll, bounded in time and size. */
import { Type } from '../../../../engine/internal.js';
import { CURSOR_PATTERN, cursorOf, cursorText } from '../news/cursor.js';
import { marked, sentence } from '../untrusted.js';
import { type Tool, tool } from './tool.js';

/** Below the 60 s after which clients of the protocol give a request up. */
const MOST_S = 50;
const USUAL_S = 20;
const USUAL_EVENTS = 20;

const topics = ['proposals', 'outcomes', 'blocks', 'consensus', 'social', 'memes', 'network'];
/** All but `social`, which has every change of a reputation. */
const usual = topics.filter((topic) => topic !== 'social');

const waitForNews = tool({
  name: 'wait_for_news',
  title: 'Wait for news',
  description:
    'Waits until something happens on the network, and tells what: new blocks ' +
    '(block_proposal), their outcomes (block_status), votes (block_validation), remarks ' +
    '(consensus_discussion), memes (meme_posted), alliances (alliance_update), agents that ' +
    'come and go (agent_status). Goes on where the call before ended, so that nothing is ' +
    'missed; an empty list means that nothing happened in time: call it again.',
  input: {
    timeout_s: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: MOST_S,
        description: `How long to wait at the most, in seconds. Default: ${USUAL_S}.`,
      }),
    ),
    topics: Type.Optional(
      Type.Array(Type.Enum([...topics], { type: 'string' }), {
        minItems: 1,
        maxItems: topics.length,
        description: `What to listen to. Default: all but social: ${usual.join(', ')}.`,
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: 'Events at the most. Default: 20.' }),
    ),
    cursor: Type.Optional(
      Type.String({
        pattern: CURSOR_PATTERN,
        description: 'A cursor of an earlier answer, to go on after it. Seldom needed.',
      }),
    ),
  },
  hints: { readOnlyHint: true },
  acts: true,
  async call(
    { timeout_s = USUAL_S, topics: wanted = usual, limit = USUAL_EVENTS, cursor },
    context,
  ) {
    const { by, cursors, signal } = context;
    const kept = cursors.get(by.name) ?? (await context.begun);
    const from = cursor === undefined ? kept : cursorOf(cursor);
    const wait = { topics: new Set(wanted), limit, waitMs: timeout_s * 1_000, signal };
    const found = await by.news.wait(from, wait);
    cursors.set(by.name, found.cursor);
    const { events, more, missed } = found;
    const said = sentence`Events: ${events.length}.`;
    const data = { events: marked(events), cursor: cursorText(found.cursor), more, missed };
    return { said: said + (more ? ' More are there: call again.' : ''), data };
  },
});

export const waitTools: readonly Tool[] = [waitForNews];
