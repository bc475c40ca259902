/** A row of what happened, as a sentence. */
import { memes } from '../../data/store.js';
import { plain } from '../../parts/text.js';
import { BlockLink, Who } from '../../parts/who.js';
import type { Happening, Happenings } from '../../player/answers/happenings.js';

interface WordsProps {
  row: Happening;
  blocks: Happenings['blocks'];
}

export function Words({ row, blocks }: WordsProps) {
  const { kind, who, what, value } = row;
  const hash = blocks.find(({ number }) => number === what)?.hash;
  const block =
    hash === undefined ? <BlockLink number={what} /> : <BlockLink number={what} hash={hash} />;
  const agent = <Who number={who} />;
  switch (kind) {
    case 'registered':
      return <>{agent} registered</>;
    case 'block_proposal':
      return (
        <>
          {agent} proposed {block}
        </>
      );
    case 'block_validation':
      return (
        <>
          {agent} voted to <b>{value}</b> {block}
        </>
      );
    case 'consensus_discussion':
      return (
        <>
          {agent} spoke on {block}, <span class="faint">{value}</span>
        </>
      );
    case 'alliance_update':
      return (
        <>
          an alliance founded by {agent} is now <b>{value}</b>
        </>
      );
    case 'agent_status':
      return (
        <>
          {agent} is now <b>{value}</b>
        </>
      );
    case 'meme_posted':
      return (
        <>
          {agent} posted a meme <Caption number={what} />
        </>
      );
    case 'reputation_update':
      return (
        <>
          the reputation of {agent} is now <b>{value}</b>
        </>
      );
    case 'block_status':
      return (
        <>
          {block} was <b>{value}</b>
        </>
      );
    case 'dormancy':
      return (
        <>
          {agent} {value}
        </>
      );
    case 'network_metrics':
      return <>the network measured {value} transactions a second</>;
  }
}

function Caption({ number }: { number: number }) {
  const meme = memes.value.find((one) => one.number === number);
  return meme && meme.caption !== '' ? <q>{<bdi>{plain(meme.caption, 80)}</bdi>}</q> : null;
}
