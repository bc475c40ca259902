/** The agent view: profile, scores, votes, memes, messages and alliances. */
import type { AgentView, ReputationView } from '../../engine/protocol/schema/view.js';
import { format, plural } from '../../report/shared/format.js';
import {
  AgentLink,
  BlockLink,
  cleanText,
  getAgentName,
  getReputation,
  getStatus,
  messageText,
  moment,
  Name,
  Quote,
} from '../components/labels.js';
import { Empty, Fact, Failed, Figure, Glyph, Panel, Rows } from '../components/lists.js';
import { Memes as MemeList } from '../components/meme.js';
import { buildPath, data, useEntryData, useWorkerAnswer } from '../components/requests.js';
import type { BlockItem } from '../data/messages.js';
import {
  agents,
  alliances,
  blocks,
  canAsk,
  capabilities,
  clock,
  memes,
  messages,
  totals,
} from '../data/store.js';
import { getMessageKey, groupMessages } from '../player/answers.js';
import type { VoteOn } from '../player/opinion.js';
import { href } from '../route.js';
import { Ego, Why } from './agent-neighbours.js';

export function View({ item }: { item: string | null }) {
  agents.version.value;
  const number = item === null ? null : agents.numberOf(item);
  if (number === null) {
    return (
      <Empty title={item === null ? 'No agent selected' : 'Agent not found'}>
        <p>
          {item === null
            ? 'Select an agent in the grid, or search by name.'
            : `No agent ${cleanText(item, 48)} at this entry. It may register later.`}
        </p>
        <p>
          <a href={href('agents')}>Open Agents</a>
        </p>
      </Empty>
    );
  }
  return <Agent key={number} number={number} />;
}

function Agent({ number }: { number: number }) {
  agents.version.value;
  const row = agents.rows[number]!;
  return (
    <article class="agent-view" aria-labelledby="agent">
      <header class="view-head">
        <h1 id="agent">
          <bdi>{getAgentName(number)}</bdi>{' '}
          <span class="faint">
            {cleanText(row.personality, 32)}, {getStatus(number)}
          </span>
        </h1>
        <a class="button" href={href('agents', undefined, { sel: row.id })}>
          Show in grid
        </a>
      </header>
      <Profile number={number} />
      <div class="two">
        <Votes number={number} />
        {capabilities.value && <Why number={number} />}
        {capabilities.value && <Ego number={number} />}
        <Words number={number} />
        <Memes number={number} />
        <Joined number={number} />
      </div>
    </article>
  );
}

function Joined({ number }: { number: number }) {
  const mine = alliances.value.filter(
    ({ members, invited }) => members.includes(number) || invited.includes(number),
  );
  if (mine.length === 0) return null;
  return (
    <Panel title="Alliances">
      <ul class="lines">
        {mine.map(
          ({ number: alliance, purpose, status, founder, members, invited, proposed_at }) => (
            <li key={alliance}>
              <Quote text={purpose} most={120} />{' '}
              <span class="faint">
                {status}, {plural(members.length, 'member')}, founder <AgentLink number={founder} />
                {', proposed at '}
                {moment(proposed_at)}
                {invited.includes(number) ? ', invitation pending' : ''}
              </span>
            </li>
          ),
        )}
      </ul>
    </Panel>
  );
}

const scoreNames: Readonly<Record<keyof ReputationView, string>> = {
  overall_score: 'overall',
  meme_quality: 'memes',
  decision_consistency: 'decisions',
  peer_ratings: 'peers',
  alliance_strength: 'alliances',
};

function Profile({ number }: { number: number }) {
  const { id, public_key, validator, producer } = agents.rows[number]!;
  const { fetched, again, last } = useStanding(number, id);
  const here = last?.data ?? null;
  const can = [validator && 'vote', producer && 'propose blocks'].filter(Boolean);
  return (
    <div class="two">
      <section class="panel" aria-label="Profile">
        {here && here.agent.description !== '' && (
          <p class="description">
            <Name text={here.agent.description} most={512} />
          </p>
        )}
        <dl class="facts">
          <Fact name="capabilities">{can.length === 0 ? 'none' : can.join(', ')}</Fact>
          <Fact name="votes">{format(agents.votes[number]!)}</Fact>
          <Fact name="memes">{format(agents.memes[number]!)}</Fact>
          <Fact name="blocks produced">{format(agents.produced[number]!)}</Fact>
          {here && (
            <Fact name="registered">{moment(Date.parse(here.agent.registration_time))}</Fact>
          )}
          {here?.scores && here.agent.reason !== '' && (
            <Fact name="status reason">
              <Name text={here.agent.reason} most={160} />
            </Fact>
          )}
          <Fact name="id" whole>
            <code>{id}</code>
          </Fact>
          <Fact name="public key" whole>
            <code>{public_key}</code>
          </Fact>
        </dl>
      </section>
      <Panel
        title="Reputation"
        note={[
          `${plural(Object.keys(here?.scores ?? [0]).length, 'score')} from 0 to 100`,
          last?.data.scores && whenOf(last.entry),
        ]}
      >
        {fetched.is === 'failed' && <Failed why={fetched.why} onAgain={again} />}
        {fetched.is === 'coming' && fetched.why && <p role="status">{fetched.why}</p>}
        <table class="scores">
          <caption class="unseen">Scores, 0 to 100</caption>
          <tbody>
            {here?.scores ? (
              Object.entries(here.scores).map(([name, value]) => (
                <Score
                  key={name}
                  text={scoreNames[name as keyof ReputationView] ?? ''}
                  value={value}
                />
              ))
            ) : (
              <Score text="overall" value={getReputation(number)} />
            )}
          </tbody>
        </table>
        {here && !here.scores && (
          <p class="faint">
            This server has component scores only for the newest entry. To see them for any entry,
            run <code>npx folkmoot explore DIR</code>.
          </p>
        )}
      </Panel>
    </div>
  );
}

function whenOf(entry: number | null): string {
  if (entry !== null) return `, at entry ${format(entry)}`;
  return clock.value.mode === 'live' ? '' : ', at the newest entry';
}

function Score({ text, value }: { text: string; value: number }) {
  return (
    <tr>
      <th scope="row" class="scores-name">
        {text}
      </th>
      <td class="bar" aria-hidden="true">
        <span style={{ width: `${Math.max(0, Math.min(100, value))}%` }} />
      </td>
      <td class="number">{format(Math.round(value * 10) / 10)}</td>
    </tr>
  );
}

interface Standing {
  /** Without scores, this is the newest entry's data, and only its constant members are valid. */
  agent: AgentView;
  /** Null if the server keeps no history. */
  scores: ReputationView | null;
}

/** When live, refetches after each decided block and each change in status or reputation. */
function useStanding(number: number, id: string) {
  const { finalized, rejected } = totals.value!;
  const live = `${finalized + rejected} ${agents.status[number]} ${agents.reputation[number]}`;
  return useEntryData(`${id} ${canAsk('history')}`, live, (entry) => fetchStanding(id, entry));
}

async function fetchStanding(id: string, entry: number | null): Promise<Standing> {
  const part = encodeURIComponent(id);
  const read = async (of: number | null) => ({
    agent: await data<AgentView>(buildPath(`/api/v1/agents/${part}`, of)),
    scores: await data<ReputationView>(buildPath(`/api/v1/social/reputation/${part}`, of)),
  });
  if (entry === null || canAsk('history')) return read(entry);
  return { agent: (await read(null)).agent, scores: null };
}

const VOTES_SHOWN = 100;

interface VoteLine {
  block: BlockItem;
  decision: VoteOn['decision'];
}

const decisionText = (decision: VoteOn['decision']) => decision ?? 'did not vote';

function Votes({ number }: { number: number }) {
  const all = useWorkerAnswer<VoteOn[]>('votes', () => number, `${number}`);
  const known = new Map(blocks.value.map((block) => [block.number, block]));
  const lines: VoteLine[] = (all ?? []).slice(-VOTES_SHOWN).flatMap(({ block, decision }) => {
    const row = known.get(block);
    return row ? [{ block: row, decision }] : [];
  });
  if (all && lines.length === 0) {
    return (
      <Panel title="Votes">
        <p class="faint">No votes yet.</p>
      </Panel>
    );
  }
  const voted = lines.filter(({ decision }) => decision !== null);
  const matching = voted.filter(({ block, decision }) => agrees(block, decision));
  const decided = voted.filter(({ block }) => isDecided(block));
  return (
    <Figure
      title="Votes"
      caption={
        <>
          Vote and outcome per block, newest on the right. Blue: approve. Orange, struck through:
          reject. Empty: no vote. n = {plural(lines.length, 'block')},{' '}
          {plural(voted.length, 'vote')}; {format(matching.length)} of{' '}
          {plural(decided.length, 'vote')} on decided blocks match the outcome.
        </>
      }
      chart={() => (
        <ol class="vote-strip">
          {lines.map(({ block, decision }) => (
            <li key={block.number}>
              <a
                href={href('block', block.hash)}
                title={`Block ${block.height}, ${block.status}: ${decisionText(decision)}`}
              >
                <span class={`swatch ${decision ?? 'pending'}`} aria-hidden="true" />
                <span class="unseen">
                  Block {block.height}, {block.status}: {decisionText(decision)}
                </span>
                <Glyph status={block.status} />
              </a>
            </li>
          ))}
        </ol>
      )}
      table={() => (
        <Rows
          caption="Votes, newest first"
          head={['block', 'vote', 'outcome']}
          rows={[...lines]
            .reverse()
            .map(({ block, decision }) => [
              <BlockLink number={block.number} />,
              decisionText(decision),
              block.status === 'voting' ? 'in voting' : block.status,
            ])}
        />
      )}
    />
  );
}

const isDecided = ({ status }: BlockItem) => status === 'finalized' || status === 'rejected';
const agrees = (block: BlockItem, decision: VoteOn['decision']) =>
  isDecided(block) && (block.status === 'finalized') === (decision === 'approve');

const MEMES_SHOWN = 12;

function Memes({ number }: { number: number }) {
  const mine = memes.value
    .filter(({ creator }) => creator === number)
    .slice(-MEMES_SHOWN)
    .reverse();
  if (mine.length === 0) return null;
  return (
    <Panel title="Memes">
      <MemeList of={mine} />
    </Panel>
  );
}

function Words({ number }: { number: number }) {
  const own = messages.value.filter(({ who, kind }) => who === number && kind !== 'meme');
  const lines = groupMessages(own);
  if (lines.length === 0) return null;
  return (
    <Panel title="Messages">
      <ol class="lines">
        {lines.map(({ said: one, blocks: about }) => (
          <li key={getMessageKey(one)}>
            <span class="faint">
              {moment(one.at)}, {messageText(one)}, <BlockLink number={one.what} />
              {about.size > 1 && ` and ${plural(about.size - 1, 'earlier block')}`}
            </span>
            <Quote text={one.text} most={280} />
          </li>
        ))}
      </ol>
    </Panel>
  );
}
