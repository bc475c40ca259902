/** A block: who proposed what, who voted how, and what of it this page has checked itself. */
import { useEffect, useState } from 'preact/hooks';
import { blocks } from '../../data/store.js';
import { home } from '../../home/home.js';
import { useFetched } from '../../parts/server/api.js';
import { Coming, Empty, Failed } from '../../parts/server/states.js';
import { href } from '../../route/router.js';
import type { BlockChecked } from '../../verify/messages.js';
import { Certificate } from './certificate.js';
import { checked, type Whole, wholeBlock } from './fetch.js';
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
  const here = blocks.value.find((block) => block.hash === hash);
  // A block in voting is fetched anew when somebody votes, every few votes at the most.
  const votes = here?.status === 'voting' ? Math.floor((here.approvals + here.rejections) / 50) : 0;
  const key = `${hash} ${here?.status ?? ''} ${votes}`;
  const [fetched, again] = useFetched(key, () => wholeBlock(hash));
  const [kept, keep] = useState<Whole | null>(null);
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
  return (
    <article class="block-view">
      {fetched.is === 'failed' && <Failed why={fetched.why} onAgain={again} />}
      <Checked whole={whole} />
    </article>
  );
}

function Checked({ whole }: { whole: Whole }) {
  const [result, set] = useState<{ of: Whole; found: BlockChecked | string } | null>(null);
  useEffect(() => {
    if (home.lacks.log) return;
    let wanted = true;
    checked(whole).then(
      (found) => wanted && set({ of: whole, found }),
      (error: Error) => wanted && set({ of: whole, found: error.message }),
    );
    return () => {
      wanted = false;
    };
  }, [whole]);
  const found = result?.of.block.block_hash === whole.block.block_hash ? result.found : null;
  const check = found !== null && typeof found !== 'string' ? found : null;
  return (
    <>
      <Head whole={whole} />
      <Proof whole={whole} check={check} problem={typeof found === 'string' ? found : ''} />
      <Votes whole={whole} check={check} />
      <Transactions proposal={whole.block.proposal} check={check} />
      <Certificate block={whole.block} />
    </>
  );
}
