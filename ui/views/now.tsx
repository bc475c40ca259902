/** The Now view: the focused block and its votes, recent blocks, and recent messages. */
import type { ClusterView } from '../../api/contract/server.js';
import { compact, format, formatMs, plural } from '../../report/shared/format.js';
import {
  CHAIN_BLOCKS,
  Chain,
  computeThresholds,
  explainOutcome,
  networkRule,
  OutcomeLegend,
  TallyBar,
} from '../components/block.js';
import { Courses } from '../components/course.js';
import { DecisionLegend, Grid } from '../components/grid.js';
import {
  cleanText,
  countSenders,
  formatElapsed,
  getDecision,
  getReputation,
  messageText,
  moment,
  Name,
  Quote,
  useNow,
} from '../components/labels.js';
import { Button, Glyph, Panel, Rows, Scroll } from '../components/lists.js';
import { cluster } from '../components/requests.js';
import { type BlockItem, findCurrentBlock, rejects } from '../data/messages.js';
import {
  agents,
  blocks,
  clock,
  getFocusedBlock,
  memes,
  messages,
  network,
  position,
  totals,
} from '../data/store.js';
import { getMessageKey, groupMessages, type MessageLine } from '../player/answers.js';
import { go, href, lookAt, useChoice } from '../route.js';
import { NoAgents, networkNow } from '../world-clock.js';

export function View() {
  const [id, choose] = useChoice('sel');
  const idOf = (number: number) => agents.rows[number]!.id;
  const shown = Math.min(CHAIN_BLOCKS, blocks.value.length);
  const count = agents.count.value;
  const block = getFocusedBlock();
  return (
    <div class={agents.count.value < FEW ? 'now few' : 'now'}>
      <Courses />
      <section class="panel vote" aria-label="Block vote">
        <Ballot />
        <Chain />
        {shown > 0 && (
          <div class="chain-foot">
            <OutcomeLegend />
            <p class="faint chart-caption">
              Share of voting weight in %, approvals from the left and rejections from the right. n
              = {plural(shown, 'block')}.
            </p>
          </div>
        )}
      </section>
      <section class="panel who" aria-labelledby="who">
        <header>
          <h2 id="who">Votes by agent</h2>
          <DecisionLegend />
          {agents.count.value < FEW && <TalkLinks />}
        </header>
        {agents.count.value < FEW ? (
          <Cards />
        ) : (
          <Grid
            coloring="decision"
            banding="nothing"
            room={520}
            chosen={id === null ? null : agents.numberOf(id)}
            onChoose={(number) => choose(number === null ? null : idOf(number))}
            onOpen={(number) => go(href('agents', undefined, { sel: idOf(number) }))}
          />
        )}
        {count > 0 && (
          <p class="faint chart-caption">
            Vote of each agent{block && ` on block ${block.height}`}, one cell per agent. n ={' '}
            {plural(count, 'agent')}.
          </p>
        )}
      </section>
      {agents.count.value >= FEW && <Messages />}
      <Nodes />
    </div>
  );
}

/** Fewer agents than this are shown as cards. */
const FEW = 30;

/** One card per agent: name, vote, and last words. */
function Cards() {
  agents.version.value;
  const words = new Map(messages.value.map(({ who, text }) => [who, text]));
  return (
    <ul class="cards">
      {Array.from({ length: agents.count.value }, (_, number) => {
        const { id, name, personality } = agents.rows[number]!;
        const said = words.get(number) ?? '';
        const decision = ['pending', 'approve', 'reject'][agents.decision[number]!]!;
        return (
          <li key={id} class={decision}>
            <a href={href('agent', id)}>
              <Name text={name === '' ? id : name} most={32} />
            </a>
            <span class="faint">
              {cleanText(personality, 32)}, reputation {getReputation(number)}
            </span>
            <span>
              <span class={`swatch ${decision}`} aria-hidden="true" /> {getDecision(number)}
            </span>
            {said !== '' && <Quote text={said} most={100} />}
          </li>
        );
      })}
    </ul>
  );
}

function Ballot() {
  const block = getFocusedBlock();
  if (!block) return <NoBlock />;
  const { height, status, number, closed_at, proposed_at } = block;
  const took = closed_at === null ? null : closed_at - proposed_at;
  const newest = findCurrentBlock(blocks.value);
  return (
    <div class="ballot">
      <header>
        <h1>
          Block {height} <Glyph status={status} />{' '}
          <span class="outcome">{explainOutcome(status)}</span>
        </h1>
        {status === 'voting' ? (
          <Deadline block={block} />
        ) : (
          took !== null && <p class="deadline faint">after {formatMs(took)}</p>
        )}
        {newest && newest.number !== number && (
          <Button onClick={() => lookAt(null)}>Show block {newest.height}</Button>
        )}
      </header>
      <TallyBar block={block} />
      <Counts block={block} />
      {networkRule()?.usesVetoes && status === 'voting' && <Vetoes />}
    </div>
  );
}

function Counts({ block }: { block: BlockItem }) {
  const { approvals, rejections, electors, approve, reject, total, producer, transactions } = block;
  const weighted = network.value?.weights !== 'equal';
  const by = agents.rows[producer];
  return (
    <p class="counts">
      <span class="swatch approve" aria-hidden="true" /> <b>{format(approvals)}</b> approve{' '}
      <span class="swatch reject" aria-hidden="true" /> <b>{format(rejections)}</b> reject,{' '}
      {format(Math.max(0, electors - approvals - rejections))} of {format(electors)}{' '}
      {block.status === 'voting' ? 'pending' : 'did not vote'}.
      {weighted && ` Weight: ${compact(approve)} and ${compact(reject)} of ${compact(total)}.`}{' '}
      {needText(block)}{' '}
      <span class="faint">
        {plural(transactions, 'transaction')}
        {by && (
          <>
            , proposed by <Name text={by.name} />
          </>
        )}
        .
      </span>
    </p>
  );
}

/** Formats the weight or turnout still missing for a decision. */
function needText(block: BlockItem): string {
  if (block.status !== 'voting') return '';
  const { finalize, turnout } = computeThresholds(block);
  if (finalize !== null) {
    const lacking = Math.max(0, finalize - block.approve);
    const equal = network.value?.weights === 'equal';
    const votes = equal ? plural(lacking, 'more vote') : `${format(lacking)} more weight`;
    return `Needs ${votes} to finalize.`;
  }
  if (turnout === null) return 'The votes are counted at the end of voting.';
  const lead = block.approve - block.reject;
  const short = Math.max(0, turnout - block.approve - block.reject);
  const leads = lead > 0 ? 'Approval leads' : lead < 0 ? 'Rejection leads' : 'Votes are even';
  const by = lead === 0 ? '' : ` by ${format(Math.abs(lead))}`;
  const turned =
    short > 0 ? `${format(short)} more weight needed for the turnout` : 'turnout reached';
  return `${leads}${by}; ${turned}.`;
}

/** Time left according to the network clock, which advances between entries while live. */
function Deadline({ block: { deadline, proposed_at } }: { block: BlockItem }) {
  useNow(250);
  const { at } = position.value!;
  const now = clock.value.mode === 'live' ? networkNow() : null;
  const left = Math.max(0, deadline - Math.max(at, now ?? at));
  const share = left / Math.max(1, deadline - proposed_at);
  return (
    <p class="deadline">
      <meter min={0} max={1} value={Math.min(1, share)} aria-label="Time left" />
      <b>{left >= 1_000 ? formatMs(Math.round(left / 1_000) * 1_000) : formatMs(left)}</b> left
    </p>
  );
}

function NoBlock() {
  const count = agents.count.value;
  return (
    <div class="empty">
      <h1>{count === 0 ? 'No agents yet' : 'No blocks yet'}</h1>
      {count === 0 ? (
        <NoAgents />
      ) : (
        <p>
          {plural(count, 'agent is', 'agents are')} registered. Waiting for a producer to propose
          the first block.
        </p>
      )}
    </div>
  );
}

/** Minimum size of a personality with a veto. */
const LEAST_VETO_GROUP = 3;
const VETOES_SHOWN = 4;

function Vetoes() {
  agents.version.value;
  const groups = nearestVetoes();
  if (groups.length === 0) return null;
  return (
    <p class="vetoes">
      Veto: all agents of a personality with at least three agents reject. Rejections so far:{' '}
      {groups.map(({ name, all, against }, index) => (
        <span key={name}>
          {index > 0 ? ', ' : ''}
          <b>{cleanText(name, 32)}</b> {against} of {all}
        </span>
      ))}
      .
    </p>
  );
}

function nearestVetoes() {
  const groups = new Map<string, { name: string; all: number; against: number }>();
  for (let number = 0; number < agents.count.value; number += 1) {
    const { personality: name = '', validator } = agents.rows[number] ?? {};
    if (!validator || agents.status[number] !== 0) continue;
    const group = groups.get(name) ?? { name, all: 0, against: 0 };
    group.all += 1;
    if (agents.decision[number] === rejects) group.against += 1;
    groups.set(name, group);
  }
  return [...groups.values()]
    .filter(({ all, against }) => all >= LEAST_VETO_GROUP && against > 0)
    .sort((one, other) => other.against / other.all - one.against / one.all)
    .slice(0, VETOES_SHOWN);
}

const NUMERIC_COLUMNS = [3, 4, 5];
const DIGEST_LETTERS = 12;

function Nodes() {
  const now = useNow(1_000);
  const state = cluster.value;
  if (!state) return null;
  const { node: own, nodes, cut_off_ms } = state;
  const longest = Math.max(...nodes.map(({ since }) => now - Date.parse(since)));
  const rows = nodes.map(({ node, alive, since, behind, batch, entry, digest, version }) => [
    <>
      <Name text={node} />
      {node === own && ' (this page)'}
    </>,
    alive ? 'alive' : <b key="state">{cut_off_ms > 0 ? 'unknown' : 'silent'}</b>,
    <time key="since" dateTime={since} title={since}>
      {formatElapsed(now - Date.parse(since), longest)}
    </time>,
    cut_off_ms > 0 && node !== own ? '?' : format(behind),
    format(batch),
    format(entry),
    <code key="digest" title={digest}>
      {digest.slice(0, DIGEST_LETTERS)}
    </code>,
    cleanText(version, 32),
  ]);
  return (
    <Panel
      title="Nodes"
      class="nodes"
      note={
        <>
          <Name text={own} /> serves this page. {orderedBy(state)}
        </>
      }
    >
      <Scroll name="Nodes, as a table">
        <Rows
          caption="State, lag and digest of each node"
          head={['Node', 'State', 'Duration', 'Lag', 'Batch', 'Entry', 'Digest', 'Version']}
          numeric={NUMERIC_COLUMNS}
          rows={rows}
        />
      </Scroll>
    </Panel>
  );
}

function orderedBy({ etcd, cut_off_ms }: ClusterView): string {
  if (cut_off_ms > 0) return `No contact with the order for ${formatMs(seconds(cut_off_ms))}.`;
  if (!etcd) return 'etcd timed out.';
  const { members, answering, leader } = etcd;
  const answer = `${answering} of ${plural(members, 'etcd member')}`;
  const led = leader ? '' : ' The etcd cluster has no leader, so all writes wait.';
  return `${answer} ${answering === 1 ? 'answers' : 'answer'}.${led}`;
}

const seconds = (ms: number) => Math.round(ms / 1_000) * 1_000;

const MESSAGES_SHOWN = 12;
const REASONS_SHOWN = 4;

/**
 * Returns recent messages. Every vote includes a reason, usually one of a few generated texts.
 * Equal reasons share a row, and at most `REASONS_SHOWN` rows are reasons, so that remarks and
 * memes stay visible.
 */
function recentMessages(): MessageLine[] {
  const lines = groupMessages(messages.value);
  const first = messages.value[0]?.entry ?? Number.POSITIVE_INFINITY;
  // Reasons may have displaced memes from the recent messages.
  const older = memes.value
    .filter(({ entry }) => entry < first)
    .reverse()
    .map(({ number, creator, caption, entry, at }): MessageLine => {
      const who = { who: creator, kind: 'meme', what: number, stance: '' } as const;
      const said = { entry, at, ...who, text: caption };
      return { said, count: 1, agents: new Set([creator]), blocks: new Set() };
    });
  const reasons = lines.filter(({ said }) => said.kind === 'reason').slice(0, REASONS_SHOWN);
  const others = [...lines.filter(({ said }) => said.kind !== 'reason'), ...older];
  return [...reasons, ...others.slice(0, MESSAGES_SHOWN - reasons.length)].sort(
    (one, other) => other.said.entry - one.said.entry,
  );
}

function Messages() {
  const last = recentMessages();
  return (
    <section class="panel spoken" aria-labelledby="said">
      <header>
        <h2 id="said">Messages</h2>
        <TalkLinks />
        {messages.value.length > 0 && (
          <p class="faint">Counts cover the last {plural(messages.value.length, 'message')}.</p>
        )}
      </header>
      {last.length === 0 && <p class="faint">No messages yet.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must scroll it too */}
      <ol tabIndex={0}>
        {last.map((line) => (
          <li key={getMessageKey(line.said)}>
            <MessageRow {...line} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function TalkLinks() {
  const { remarks, memes: posted } = totals.value!;
  return (
    <p>
      <a href={href('talk', undefined, { kind: 'remarks' })}>{plural(remarks, 'remark')}</a>,{' '}
      <a href={href('talk', undefined, { kind: 'memes' })}>{plural(posted, 'meme')}</a>
    </p>
  );
}

function MessageRow(line: MessageLine) {
  const { said, blocks: about } = line;
  const { at, who, text } = said;
  return (
    <>
      <span class="faint">{moment(at)}</span>{' '}
      <b>{countSenders(line) || <Name text={agents.rows[who]?.name ?? ''} most={32} />}</b>{' '}
      <span class="faint">
        {messageText(said)}
        {about.size > 1 && `, ${format(about.size)} blocks`}
      </span>
      {text !== '' && <Quote text={text} most={140} />}
    </>
  );
}
