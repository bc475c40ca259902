/** A meme: its caption, and on request what it holds. What strangers made is opened by choice. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { MemeRow } from '../../../api/view/model.js';
import { plain } from '../text.js';
import { EntryLink, Who } from '../who.js';
import { type Content, contentOf } from './content.js';

type State =
  | { is: 'closed' }
  | { is: 'coming' }
  | { is: 'open'; content: Content }
  | { is: 'failed'; why: string };

export function Meme({ meme }: { meme: MemeRow }) {
  const [state, set] = useState<State>({ is: 'closed' });
  const caption = plain(meme.caption, 280);
  const open = () => {
    set({ is: 'coming' });
    contentOf(meme.id).then(
      (content) => set({ is: 'open', content }),
      (error: Error) => set({ is: 'failed', why: error.message }),
    );
  };
  return (
    <div class="meme">
      <p>{caption === '' ? <span class="faint">without a caption</span> : <bdi>{caption}</bdi>}</p>
      {state.is === 'open' && <Open content={state.content} caption={caption} />}
      {state.is === 'failed' && <p role="alert">{state.why}</p>}
      <p class="faint">
        {plain(meme.type, 16)} by <Who number={meme.creator} />, <EntryLink entry={meme.entry} />
      </p>
      {state.is === 'open' ? (
        <button type="button" class="button" onClick={() => set({ is: 'closed' })}>
          Close
        </button>
      ) : (
        <button type="button" class="button" disabled={state.is === 'coming'} onClick={open}>
          {state.is === 'coming'
            ? 'Fetching …'
            : meme.type === 'text'
              ? 'Read it'
              : 'Show the image'}
        </button>
      )}
    </div>
  );
}

function Open({ content, caption }: { content: Content; caption: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (content.is === 'still' && canvas.current) content.draw(canvas.current);
  }, [content]);
  if (content.is === 'text') {
    return (
      <blockquote>
        <bdi>{plain(content.text, 2_000)}</bdi>
        {content.cut && <span class="faint"> The rest is not shown.</span>}
      </blockquote>
    );
  }
  return (
    <>
      <canvas ref={canvas} role="img" aria-label={caption === '' ? 'an image' : caption} />
      {content.moves && <p class="faint">It moves; this is its first picture.</p>}
    </>
  );
}
