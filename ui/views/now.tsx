/** The view Now: the block that is voted on, how those before it ended, and what agents say. */

import type { MessageKind } from '../../api/view/model.js';
import { compact, format, formatMs, plural } from '../../report/shared/format.js';
import {
  Chain,
  computeThresholds,
  Glyph,
  OutcomeLegend,
  outcomes,
  TallyBar,
} from '../components/block.js';
import { DecisionLegend, Grid } from '../components/grid.js';
import { cleanText, formatElapsed, moment, Name, useNow } from '../components/labels.js';
import { Rows, Scroll } from '../components/lists.js';
import { type ClusterState, cluster } from '../components/requests.js';
import { type BlockItem, rejects } from '../data/messages.js';
import {
  agents,
  blocks,
  clock,
  getFocusedBlock,
  messages,
  network,
  passingRates,
  position,
  totals,
} from '../data/store.js';
import { getMessageKey, groupMessages } from '../player/answers.js';
import { go, href, lookAt, useChoice } from '../route.js';
import { NoAgents, networkNow } from '../world-clock.js';

export function View() {
  const [id, choose] = useChoice('sel');
  const idOf = (number: number) => agents.rows[number]!.id;
  return (
    <div class="now">
      <section class="panel vote" aria-label="The vote">
        <Ballot />
        <Chain />
        <OutcomeLegend />
      </section>
      <section class="panel who" aria-labelledby="who">
        <header>
          <h2 id="who">Who votes what</h2>
          <DecisionLegend />
        </header>
        <Grid
          coloring="decision"
          banding="nothing"
          room={420}
          chosen={id === null ? null : agents.numberOf(id)}
          onChoose={(number) => choose(number === null ? null : idOf(number))}
          onOpen={(number) => go(href('agents', undefined, { sel: idOf(number) }))}
        />
      </section>
      <Spoken />
      <Activity />
      <Nodes />
    </div>
  );
}

function Ballot() {
  const block = getFocusedBlock();
  if (!block) return <NoBlock />;
  const { height, status, number } = block;
  const newest = blocks.value.findLast((one) => one.status === 'voting') ?? blocks.value.at(-1);
  return (
    <div class="ballot">
      <header>
        <h1>
          Block {height} <Glyph status={status} />{' '}
          <span class="outcome">{status === 'voting' ? 'in voting' : outcomes[status]}</span>
        </h1>
        {status === 'voting' ? <Deadline block={block} /> : <Took block={block} />}
        {newest && newest.number !== number && (
          <button type="button" class="button" onClick={() => lookAt(null)}>
            To block {newest.height}
          </button>
        )}
      </header>
      <TallyBar block={block} />
      <Counts block={block} />
      {network.value?.policy === 'veto' && status === 'voting' && <Vetoes />}
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
      {block.status === 'voting' ? 'to come' : 'did not vote'}.
      {weighted &&
        ` By weight: ${compact(approve)} and ${compact(reject)} of ` + `${compact(total)}.`}{' '}
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

/** What would decide it. */
function needText(block: BlockItem): string {
  if (block.status !== 'voting') return '';
  const { finalize, turnout } = computeThresholds(block);
  if (finalize !== null) {
    const lacking = Math.max(0, finalize - block.approve);
    const equal = network.value?.weights === 'equal';
    const votes = equal ? plural(lacking, 'more vote') : `${format(lacking)} more weight`;
    return `Needs ${votes} to finalize.`;
  }
  const lead = block.approve - block.reject;
  const short = Math.max(0, turnout! - block.approve - block.reject);
  const leads = lead > 0 ? 'Approval leads' : lead < 0 ? 'Rejection leads' : 'It is even';
  const by = lead === 0 ? '' : ` by ${format(Math.abs(lead))}`;
  const turned =
    short > 0 ? `${format(short)} more must vote for it to count` : 'enough have voted';
  return `${leads}${by}; ${turned}.`;
}

/** By the network's clock, which goes on between its entries while it is live. */
function Deadline({ block: { deadline, proposed_at } }: { block: BlockItem }) {
  useNow(250);
  const { at } = position.value!;
  const now = clock.value.mode === 'live' ? networkNow() : null;
  const left = Math.max(0, deadline - Math.max(at, now ?? at));
  const share = left / Math.max(1, deadline - proposed_at);
  return (
    <p class="deadline">
      <meter min={0} max={1} value={Math.min(1, share)} aria-label="time left" />
      <b>{left >= 1_000 ? formatMs(Math.round(left / 1_000) * 1_000) : formatMs(left)}</b> left
    </p>
  );
}

function Took({ block: { closed_at, proposed_at } }: { block: BlockItem }) {
  return closed_at === null ? null : (
    <p class="deadline faint">after {formatMs(closed_at - proposed_at)}</p>
  );
}

function NoBlock() {
  const count = agents.count.value;
  return (
    <div class="empty">
      <h1>{count === 0 ? 'No agents yet' : 'No block has been proposed yet'}</h1>
      {count === 0 ? (
        <NoAgents />
      ) : (
        <p>
          {plural(count, 'agent is', 'agents are')} here. The first block that a producer proposes
          appears here at once.
        </p>
      )}
    </div>
  );
}

/** By the policy of vetoes: a group of fewer has no veto. */
const LEAST_VETO_GROUP = 3;
const VETOES_SHOWN = 4;

function Vetoes() {
  agents.version.value;
  const groups = nearestVetoes();
  if (groups.length === 0) return null;
  return (
    <p class="vetoes">
      A personality of three or more that rejects as one stops it. Nearest:{' '}
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

/** Where its columns hold numbers. */
const NUMERIC_COLUMNS = [3, 4, 5];
const DIGEST_LETTERS = 12;

function Nodes() {
  const now = useNow(1_000);
  const state = cluster.value;
  if (!state) return null;
  const { node: own, nodes, cut_off_ms } = state;
  const rows = nodes.map(({ node, alive, since, behind, batch, entry, digest, version }) => [
    <>
      <Name text={node} />
      {node === own && ' (this page)'}
    </>,
    alive ? 'alive' : <b key="state">{cut_off_ms > 0 ? 'not known' : 'silent'}</b>,
    <time key="since" dateTime={since} title={since}>
      {formatElapsed(now - Date.parse(since))}
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
    <section class="panel nodes" aria-labelledby="nodes">
      <header>
        <h2 id="nodes">Nodes</h2>
        <p>
          <Name text={own} /> serves this page. {orderedBy(state)}
        </p>
      </header>
      <Scroll name="Nodes, as a table">
        <Rows
          caption="Each applies the same batches in one order"
          head={['Node', 'State', 'For', 'Behind', 'Batch', 'Entry', 'Digest', 'Version']}
          numeric={NUMERIC_COLUMNS}
          rows={rows}
        />
      </Scroll>
    </section>
  );
}

function orderedBy({ etcd, cut_off_ms }: ClusterState): string {
  if (cut_off_ms > 0) return `It has not heard of the order for ${formatMs(seconds(cut_off_ms))}.`;
  if (!etcd) return 'Etcd did not answer in time.';
  const { members, answering, leader } = etcd;
  const answer = `${answering} of ${members} ${members === 1 ? 'member' : 'members'} of etcd`;
  const led = leader ? '' : ', and none leads: nothing can be ordered now';
  return `${answer} ${answering === 1 ? 'answers' : 'answer'}${led}.`;
}

const seconds = (ms: number) => Math.round(ms / 1_000) * 1_000;

function Activity() {
  const { events, votes } = passingRates.value;
  const all = totals.value!;
  const rows: [string, string, string?][] = [
    ['agents', format(agents.count.value)],
    ['events a second', perSecond(events)],
    ['votes a second', perSecond(votes)],
    ['final transactions', format(all.transactions)],
    ['blocks finalized', format(all.finalized), 'finalized'],
    ['rejected', format(all.rejected), 'rejected'],
    ['expired', format(all.expired), 'expired'],
    ['orphaned', format(all.orphaned), 'orphaned'],
  ];
  return (
    <section class="panel activity" aria-labelledby="activity">
      <header>
        <h2 id="activity">So far</h2>
      </header>
      <dl>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const perSecond = (value: number | null) =>
  format(value === null ? null : value >= 10 ? Math.round(value) : Math.round(value * 10) / 10);

const SPOKEN_SHOWN = 12;
/** Of one agent, and of several. */
const verbs: Record<MessageKind, readonly [string, string]> = {
  remark: ['argues', 'argue'],
  reason: ['votes because', 'vote because'],
  meme: ['posts a meme', 'post a meme'],
};

function Spoken() {
  const last = groupMessages(messages.value).slice(0, SPOKEN_SHOWN);
  return (
    <section class="panel spoken" aria-labelledby="said">
      <header>
        <h2 id="said">What is said</h2>
      </header>
      {last.length === 0 && <p class="faint">Nothing has been said yet.</p>}
      <ol>
        {last.map(({ said: one, others }) => (
          <li key={getMessageKey(one)}>
            <span class="faint">{moment(one.at)}</span>{' '}
            <b>
              <Name text={agents.rows[one.who]?.name ?? ''} most={32} />
            </b>{' '}
            {others > 0 && `and ${plural(others, 'other')} `}
            {verbs[one.kind][others > 0 ? 1 : 0]}
            {one.text !== '' && (
              <q>
                <bdi>{cleanText(one.text, 140)}</bdi>
              </q>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
