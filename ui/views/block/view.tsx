/** A block: who proposed what, who voted how, and what of it this page has checked itself. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { shown } from '../../../report/shared/numbers.js';
import type { BlockShown } from '../../data/messages.js';
import { blocks, clock, position } from '../../data/store.js';
import { home } from '../../home/home.js';
import { useFetched } from '../../parts/server/api.js';
import { useAsked } from '../../parts/server/asked.js';
import { Coming, Empty, Failed } from '../../parts/server/states.js';
import { href } from '../../route/router.js';
import type { BlockChecked } from '../../verify/messages.js';
import { asOf, checkAsOf } from './as-of.js';
import { Certificate } from './certificate.js';
import { type BlockData, checked, type Whole, wholeBlock } from './fetch.js';
import { Head } from './head.js';
import { Proof } from './proof.js';
import { Transactions } from './transactions.js';
import { Votes } from './votes.js';

export function View({ item }: { item: string | null }) {
  const last = blocks.value.at(-1);
  const hash = item ?? last?.hash ?? null;
  if (hash === null) {
    return (
      <Empty title="No block has been proposed yet">
        <p>
          The first one appears here at once. <a href={href('now')}>What happens now</a> says who is
          here.
        </p>
      </Empty>
    );
  }
  return <Of key={hash} hash={hash} />;
}

function Of({ hash }: { hash: string }) {
  const live = clock.value.mode === 'live';
  const here = blocks.value.find((block) => block.hash === hash);
  const count = here ? here.approvals + here.rejections : 0;
  const [kept, keep] = useState<Whole | null>(null);
  // A block in voting is fetched anew when somebody votes, of many when a tenth more did; and when
  // the page has gone on to votes that were not there yet when it was fetched.
  const votes = live && here?.status === 'voting' ? tenths(count) : 0;
  const lacks = !live && kept && !kept.more && kept.votes.length < count ? count : 0;
  const key = `${hash} ${here?.status ?? ''} ${votes} ${lacks}`;
  const [fetched, again] = useFetched(key, () => wholeBlock(hash));
  useEffect(() => {
    if (fetched.is === 'here') keep(fetched.data);
  }, [fetched]);
  const whole = fetched.is === 'here' ? fetched.data : kept;
  if (!whole && fetched.is === 'failed') {
    const known = fetched.status === 404 || fetched.status === 400;
    return (
      <Empty title={known ? 'No block has this hash' : 'This block cannot be shown'}>
        <p>{fetched.why}</p>
        <p>
          <button type="button" onClick={again}>
            Try again
          </button>{' '}
          <a href={href('now')}>The blocks that there are</a>
        </p>
      </Empty>
    );
  }
  if (!whole) return <Coming what="the block and its votes" />;
  if (!live && whole.block.entry > position.value!.entry) return <NotYet block={whole.block} />;
  return (
    <article class="block-view">
      {fetched.is === 'failed' && <Failed why={fetched.why} onAgain={again} />}
      <Checked whole={whole} known={live ? undefined : here} />
    </article>
  );
}

/** Cut to its first two digits. */
function tenths(count: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, count))) - 1);
  return Math.floor(count / step) * step;
}

function NotYet({ block: { height, block_hash, entry } }: { block: BlockData }) {
  return (
    <Empty title={`Block ${height} is not there yet`}>
      <p>
        At entry {shown(position.value!.entry)}, where the page stands, nobody has proposed it: that
        came with{' '}
        <a href={href('block', block_hash, { at: String(entry) })}>entry {shown(entry)}</a>.
      </p>
    </Empty>
  );
}

/** All of it is checked at once; what is shown is what there was of that at the entry. */
function Checked({ whole, known }: { whole: Whole; known: BlockShown | undefined }) {
  const [result, set] = useState<{ of: Whole; found: BlockChecked | string } | null>(null);
  useEffect(() => {
    if (home.lacks.log) return;
    checked(whole).then(
      (found) => set({ of: whole, found }),
      (error: Error) => set({ of: whole, found: error.message }),
    );
  }, [whole]);
  // What was fetched since is shown once it is checked, too.
  const { of, found } = result ?? { of: whole, found: null };
  const then = useThen(of, known);
  if (!then) return <Coming what="the votes that there were" />;
  const problem = typeof found === 'string' ? found : '';
  const check = found === null || typeof found === 'string' ? null : checkAsOf(found, of, then);
  return (
    <>
      <Head whole={then} now={of.block.status} />
      <Proof whole={then} check={check} problem={problem} />
      <Votes whole={then} check={check} />
      <Transactions proposal={then.block.proposal} check={check} />
      <Certificate block={then.block} />
    </>
  );
}

/** As of the entry that is shown. Ballots come a little after: until then, as it was before. */
function useThen(whole: Whole, known: BlockShown | undefined): Whole | null {
  const open = known?.status === 'voting' ? known : null;
  const ballots = useAsked<Uint32Array>('ballots', () => open?.number, `${open?.number}`);
  const before = useRef<Whole | null>(null);
  if (open && ballots?.length !== open.approvals + open.rejections) return before.current;
  before.current = asOf(whole, known, ballots ?? []);
  return before.current;
}
