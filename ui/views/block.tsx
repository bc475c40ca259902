/** The block view: proposal, outcome, checks in the browser, votes and certificate. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { describeTie } from '../../dist/engine/rules/rule.js';
import { format, formatMs, plural } from '../../report/shared/format.js';
import { AdjacentBlocks, explainOutcome, networkRule, TallyBar } from '../components/block.js';
import {
  AgentLink,
  BlockLink,
  cleanText,
  EntryLink,
  moment,
  toSentence,
} from '../components/labels.js';
import {
  Button,
  Empty,
  Fact,
  Failed,
  Glyph,
  Loading,
  Mark,
  Panel,
  Unavailable,
} from '../components/lists.js';
import { labelOption, useFetch, useScenario, useWorkerAnswer } from '../components/requests.js';
import { type BlockItem, findCurrentBlock } from '../data/messages.js';
import { blocks, clock, network, position } from '../data/store.js';
import { home } from '../home.js';
import { href, hrefNow } from '../route.js';
import { fetchCertificate } from '../verify/client.js';
import type { BlockChecked, Outcome, Progress, Verdict } from '../verify/messages.js';
import {
  atEntry,
  type BlockData,
  checkAsOf,
  checkBlockData,
  Transactions,
  Transcript,
  Votes,
  type Whole,
  wholeBlock,
} from './block-votes.js';

export function View({ item }: { item: string | null }) {
  const last = findCurrentBlock(blocks.value);
  const hash = item ?? last?.hash ?? null;
  if (hash === null) {
    return (
      <Empty title="No blocks yet">
        <p>
          Waiting for the first proposal. <a href={href('now')}>Open Now</a>
        </p>
      </Empty>
    );
  }
  return <WholeBlock key={hash} hash={hash} />;
}

function WholeBlock({ hash }: { hash: string }) {
  useScenario();
  const live = clock.value.mode === 'live';
  const here = blocks.value.find((block) => block.hash === hash);
  const count = here ? here.approvals + here.rejections : 0;
  const [kept, keep] = useState<Whole | null>(null);
  // When live, a block in voting is refetched after every vote, or less often when it has many
  // votes. At a past entry, the block is refetched when playback reaches votes newer than the last
  // fetch.
  const votes = live && here?.status === 'voting' ? tenths(count) : 0;
  const lacks = !live && kept && !kept.more && kept.votes.length < count ? count : 0;
  const key = `${hash} ${here?.status ?? ''} ${votes} ${lacks}`;
  const [fetched, again] = useFetch(key, () => wholeBlock(hash));
  useEffect(() => {
    if (fetched.is === 'here') keep(fetched.data);
  }, [fetched]);
  const whole = fetched.is === 'here' ? fetched.data : kept;
  if (!whole && fetched.is === 'failed') {
    const known = fetched.status === 404 || fetched.status === 400;
    return (
      <Empty title={known ? 'Block not found' : 'Block unavailable'}>
        <p>{toSentence(fetched.why)}</p>
        <p>
          <Button onClick={again}>Retry</Button> <a href={href('now')}>Open Now</a>
        </p>
      </Empty>
    );
  }
  if (!whole) return <Loading what="block and votes" />;
  if (!live && whole.block.entry > position.value!.entry) return <NotYet block={whole.block} />;
  return (
    <article class="block-view">
      {fetched.is === 'failed' && <Failed why={fetched.why} onAgain={again} />}
      <Checked whole={whole} known={live ? undefined : here} />
    </article>
  );
}

/** Rounds down to two significant digits. */
function tenths(count: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, count))) - 1);
  return Math.floor(count / step) * step;
}

function NotYet({ block: { height, block_hash, entry } }: { block: BlockData }) {
  return (
    <Empty title={`No block ${height} yet`}>
      <p>
        The page shows entry {format(position.value!.entry)}. Block {height} was proposed at{' '}
        <a href={href('block', block_hash, { at: String(entry) })}>entry {format(entry)}</a>.
      </p>
    </Empty>
  );
}

/** Checks the whole block once, and shows it as of the current entry. */
function Checked({ whole, known }: { whole: Whole; known: BlockItem | undefined }) {
  const [result, set] = useState<{ of: Whole; found: BlockChecked | string } | null>(null);
  useEffect(() => {
    if (home.lacks.log) return;
    checkBlockData(whole).then(
      (found) => set({ of: whole, found }),
      (error: Error) => set({ of: whole, found: error.message }),
    );
  }, [whole]);
  // Newly fetched data appears once it has been checked.
  const { of, found } = result ?? { of: whole, found: null };
  const then = useThen(of, known);
  if (!then) return <Loading what="votes" />;
  const problem = typeof found === 'string' ? found : '';
  const check = found === null || typeof found === 'string' ? null : checkAsOf(found, of, then);
  return (
    <>
      <Head whole={then} now={of.block.status} />
      <Proof whole={then} check={check} problem={problem} />
      <Transcript whole={then} />
      <Votes whole={then} check={check} />
      <div class="two">
        <Transactions proposal={then.block.proposal} check={check} />
        <Certificate block={then.block} />
      </div>
    </>
  );
}

/** Returns the block at the current entry, or its previous state until the ballots arrive. */
function useThen(whole: Whole, known: BlockItem | undefined): Whole | null {
  const open = known?.status === 'voting' ? known : null;
  const ballots = useWorkerAnswer<Uint32Array>('ballots', () => open?.number, `${open?.number}`);
  const before = useRef<Whole | null>(null);
  if (open && ballots?.length !== open.approvals + open.rejections) return before.current;
  before.current = atEntry(whole, known, ballots ?? []);
  return before.current;
}

interface HeadProps {
  whole: Whole;
  /** Current status on the server. */
  now: string;
}

function Head({ whole: { block, electors }, now }: HeadProps) {
  const { height, status, block_hash, tally, closed_at } = block;
  const proposed = Date.parse(block.timestamp);
  // A block that is shown at a past entry may have its outcome already.
  const ended: Partial<BlockData> = status === 'voting' ? {} : block;
  const known = blocks.value.find(({ hash }) => hash === block_hash);
  return (
    <section class="panel" aria-labelledby="block">
      <header class="block-head">
        <h1 id="block">
          Block {height} <Glyph status={status} />{' '}
          <span class="outcome">{explainOutcome(status, ended) ?? cleanText(status, 32)}</span>
        </h1>
        <AdjacentBlocks hash={block_hash} to={({ hash }) => href('block', hash)} />
      </header>
      {now !== status && <Since hash={block_hash} now={now} />}
      {known && (
        <>
          <TallyBar block={{ ...known, approve: tally.approve, reject: tally.reject }} />
          <p class="faint chart-caption">
            Voting weight, approvals from the left and rejections from the right
            {networkRule()?.isByWeight && ', with thresholds'}. Total weight{' '}
            {format(tally.electorate)}, n = {plural(electors, 'elector')}.
          </p>
        </>
      )}
      <dl class="facts">
        <Fact name="producer">
          <AgentLink id={block.producer.id} />
        </Fact>
        <Fact name="proposed">
          {moment(proposed)}
          {known && (
            <>
              , <EntryLink entry={known.entry} />
            </>
          )}
        </Fact>
        <Fact name={closed_at ? 'time to decision' : 'deadline'}>
          {closed_at
            ? formatMs(Date.parse(closed_at) - proposed)
            : moment(Date.parse(block.voting_deadline))}
        </Fact>
        <Fact name="weight">
          {format(tally.approve)} approve, {format(tally.reject)} reject, of{' '}
          {format(tally.electorate)}
        </Fact>
        <Fact name="electorate">{plural(electors, 'agent')}</Fact>
        <Fact name="rule">
          <RuleName />
        </Fact>
        {block.options && <Fact name="options">{block.options.map(labelOption).join(', ')}</Fact>}
        {ended.choice && (
          <Fact name="choice">
            <b data-testid="choice">{labelOption(ended.choice)}</b>
          </Fact>
        )}
        {ended.fault && <Fact name="fault">the rule failed: {ended.fault}</Fact>}
        <Fact name="transactions">{format(block.transactions)}</Fact>
        <Fact name="parent">
          <BlockLink hash={block.parent_hash} />
        </Fact>
        <Fact name="hash" whole>
          <code>{block_hash}</code>
        </Fact>
      </dl>
      {ended.standings && (
        <Standings standings={ended.standings} choice={ended.choice} options={block.options} />
      )}
    </section>
  );
}

/** The rule's name, its parameters, and when it finalizes a block. */
function RuleName() {
  const rule = networkRule();
  if (!rule) return <>{network.value?.policy}, which the page does not run</>;
  const values = Object.entries(rule.values).map(([name, value]) => `${name} ${format(value)}`);
  return (
    <>
      {[rule.name, ...values].join(', ')} <span class="faint">{rule.rule.title}.</span>
    </>
  );
}

interface StandingsProps {
  standings: Readonly<Record<string, number>>;
  choice: string | undefined;
  options: readonly string[] | undefined;
}

/** Scores at the end of voting: of options, highest first, or the sums that the rule gives. */
function Standings({ standings, choice, options }: StandingsProps) {
  const scores = Object.entries(standings);
  const rows = options ? scores.sort(([, a], [, b]) => b - a) : scores;
  const most = Math.max(1, ...rows.map(([, score]) => Math.abs(score)));
  return (
    <table class="standings" data-testid="standings">
      <caption>Standings under the decision rule</caption>
      <thead>
        <tr>
          <th scope="col">{options ? 'option' : 'sum'}</th>
          <th scope="col">{options ? 'score' : 'value'}</th>
          <th scope="col" aria-label="share of the highest score" />
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, score]) => (
          <tr key={name} class={name === choice ? 'chosen' : undefined}>
            <th scope="row">{options ? labelOption(name) : cleanText(name, 64)}</th>
            <td>{format(score)}</td>
            <td>
              <span
                class="standing-bar"
                style={{ width: `${(100 * Math.max(0, score)) / most}%` }}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Note that the block's newest status differs from its status at the current entry. */
function Since({ hash, now }: { hash: string; now: string }) {
  return (
    <p class="caption" role="note" data-testid="newest-status">
      State at entry {format(position.value!.entry)}. Newest status:{' '}
      <a href={hrefNow('block', hash)}>{cleanText(now, 32)}</a>.
    </p>
  );
}

interface ProofProps {
  whole: Whole;
  check: BlockChecked | null;
  problem: string;
}

function Proof({ whole, check, problem }: ProofProps) {
  const isNative = check?.by === 'WebCrypto';
  const by = isNative ? 'WebCrypto' : 'JavaScript, because WebCrypto needs a secure origin';
  return (
    <Panel title="Checks run in this browser" note={check?.by && `Ed25519 by ${by}`}>
      <Unavailable what="log">
        {problem !== '' && <p role="alert">{toSentence(`check failed: ${problem}`)}</p>}
        {!check && problem === '' && (
          <p role="status">Checking {plural(whole.votes.length, 'signature')} …</p>
        )}
        {check && <Lines whole={whole} check={check} />}
      </Unavailable>
    </Panel>
  );
}

function Lines({ whole: { block, votes, more }, check }: { whole: Whole; check: BlockChecked }) {
  const count = (all: readonly Verdict[], of: Verdict) => all.filter((one) => one === of).length;
  const { approve, reject } = block.tally;
  const same = check.tally.approve === approve && check.tally.reject === reject;
  const decided = block.status === 'finalized' || block.status === 'rejected';
  const lines: [of: boolean | Verdict, text: string][] = [
    [check.hash, `The hash ${check.hash ? 'matches' : 'does not match'} the proposal.`],
  ];
  if (check.by === null) lines.push([check.proposal, 'This network has no signatures to check.']);
  else {
    const valid = check.proposal === 'failed' ? 'invalid' : 'valid';
    lines.push([check.proposal, `The signature of the proposal is ${valid}.`]);
    const [failed, holds] = [count(check.votes, 'failed'), count(check.votes, 'holds')];
    lines.push([failed === 0, allOf(holds, failed, votes.length, ['vote signature', 'vote'])]);
    const [all, wrong] = [check.transactions.length, count(check.transactions, 'failed')];
    const name = 'transaction';
    if (all > 0) lines.push([wrong === 0, allOf(all, wrong, all, [name, name])]);
  }
  const server = same
    ? ', equal to the server.'
    : `; the server reports ${tallyText(block.tally)}.`;
  if (!more) lines.push([same, `Recount: ${tallyText(check.tally)}${server}`]);
  return (
    <ul class="checks">
      {lines.map(([of, text]) => (
        <li key={text}>
          <Mark of={typeof of === 'string' ? of : of ? 'holds' : 'failed'} />
          {text}
        </li>
      ))}
      {!more && decided && <OutcomeLine block={block} of={check.outcome} />}
      {more && <li>Too many votes to recount in the browser.</li>}
    </ul>
  );
}

/** Compares the outcome that the rule gives to the votes with the outcome on the server. */
function OutcomeLine({ block, of }: { block: BlockData; of: Outcome | null }) {
  const { status, choice, standings = {} } = block;
  if (of === null) {
    return (
      <li data-testid="not-run">
        <Mark of="unchecked" />
        {`The outcome ${status} is not checked, because this page does not run modules. `}
        To check it, run <code>npx folkmoot replay DIR</code>.
      </li>
    );
  }
  const scores = Object.entries(of.standings ?? {});
  const same =
    scores.length === Object.keys(standings).length &&
    scores.every(([name, score]) => standings[name] === score);
  const outcomes: Pick<Outcome, 'status' | 'choice'>[] = [of, { status, choice }];
  const [found, told] = outcomes.map((one) =>
    one.choice === undefined
      ? one.status
      : `${one.status}, with the choice ${labelOption(one.choice)}`,
  );
  return (
    <li>
      <Mark of={found === told && same ? 'holds' : 'failed'} />
      {found !== told
        ? `These votes give the outcome ${found}, not ${told}.`
        : same
          ? `These votes give the outcome ${told}.`
          : `These votes give the outcome ${told}, but other standings.`}
      {of.tied && (
        <span data-testid="tied">{` ${toSentence(describeTie(of.tied, labelOption))}`}</span>
      )}
    </li>
  );
}

function allOf(valid: number, failed: number, all: number, [name, short]: [string, string]) {
  if (failed > 0) return `${format(failed)} of ${plural(all, short)} invalid.`;
  return valid === 0
    ? `No ${name}s yet.`
    : `${valid > 1 ? 'All ' : ''}${plural(valid, name)} valid.`;
}

const tallyText = ({ approve, reject }: BlockChecked['tally']) =>
  `${format(approve)} approve and ${format(reject)} reject`;

type CertificateState =
  | { is: 'idle' }
  | { is: 'making'; progress: Progress | null }
  | { is: 'made'; url: string; bytes: number }
  | { is: 'failed'; why: string };

function Certificate({ block }: { block: BlockData }) {
  const [state, set] = useState<CertificateState>({ is: 'idle' });
  const made = useRef('');
  useEffect(() => () => URL.revokeObjectURL(made.current), []);
  const { status, block_hash, height } = block;
  if (IN_FILE || (status !== 'finalized' && status !== 'rejected')) return null;
  const make = async () => {
    set({ is: 'making', progress: null });
    try {
      const text = await fetchCertificate(block_hash, (progress) =>
        set({ is: 'making', progress }),
      );
      const blob = new Blob([text], { type: 'application/json' });
      made.current = URL.createObjectURL(blob);
      set({ is: 'made', url: made.current, bytes: blob.size });
    } catch (error) {
      set({ is: 'failed', why: error instanceof Error ? error.message : String(error) });
    }
  };
  return (
    <Panel
      title="Certificate"
      note={
        <>
          Proof of the outcome in one file. To verify the file offline, run{' '}
          <code>npx folkmoot check-certificate FILE</code>.
        </>
      }
    >
      {state.is === 'idle' && <Button onClick={() => void make()}>Create certificate</Button>}
      {state.is === 'making' && <Making progress={state.progress} />}
      {state.is === 'made' && (
        <a class="button" href={state.url} download={`block-${height}.certificate.json`}>
          Save block-{height}.certificate.json, {format(Math.ceil(state.bytes / 1_000))} kB
        </a>
      )}
      {state.is === 'failed' && <p role="alert">{toSentence(state.why)}</p>}
    </Panel>
  );
}

function Making({ progress }: { progress: Progress | null }) {
  const { entries = 0, of = 1 } = progress ?? {};
  return (
    <p role="status">
      <progress max={of} value={entries} aria-label="Entries replayed" /> {format(entries)} of{' '}
      {plural(of, 'entry', 'entries')} replayed
    </p>
  );
}
