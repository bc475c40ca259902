/**
 * A meme's caption and, on request, its content. Memes are untrusted, so the reader opens each one
 * explicitly, and the page checks the image size before the browser decodes the bytes.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { MemeRow } from '../../api/view/model.js';
import { limits } from '../../engine/protocol/limits.js';
import { PageError } from '../messages.js';
import { readImageSize } from './image-size.js';
import { AgentLink, cleanText, EntryLink, Name, toSentence } from './labels.js';
import { Button } from './lists.js';
import { fetchPath } from './requests.js';

type MemeState =
  | { is: 'closed' }
  | { is: 'coming' }
  | { is: 'open'; content: Content }
  | { is: 'failed'; why: string };

export const Memes = ({ of }: { of: readonly MemeRow[] }) => (
  <ul class="memes">
    {of.map((meme) => (
      <Meme key={meme.number} meme={meme} />
    ))}
  </ul>
);

function Meme({ meme }: { meme: MemeRow }) {
  const [state, set] = useState<MemeState>({ is: 'closed' });
  const caption = cleanText(meme.caption, 280);
  const open = () => {
    set({ is: 'coming' });
    contentOf(meme.id).then(
      (content) => set({ is: 'open', content }),
      (error: Error) => set({ is: 'failed', why: error.message }),
    );
  };
  return (
    <li class="meme">
      <p>{caption === '' ? <span class="faint">No caption</span> : <bdi>{caption}</bdi>}</p>
      {state.is === 'open' && <Open content={state.content} caption={caption} />}
      {state.is === 'failed' && <p role="alert">{toSentence(state.why)}</p>}
      <p class="faint">
        {cleanText(meme.type, 16)} by <AgentLink number={meme.creator} />,{' '}
        <EntryLink entry={meme.entry} />
      </p>
      {state.is === 'open' ? (
        <Button onClick={() => set({ is: 'closed' })}>Close</Button>
      ) : (
        <Button disabled={state.is === 'coming'} onClick={open}>
          {state.is === 'coming' ? 'Loading …' : meme.type === 'text' ? 'Show text' : 'Show image'}
        </Button>
      )}
    </li>
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
        <Name text={content.text} most={2_000} />
        {content.cut && <span class="faint"> Cut after {MOST_TEXT} characters.</span>}
      </blockquote>
    );
  }
  return (
    <>
      <canvas ref={canvas} role="img" aria-label={caption === '' ? 'Image' : caption} />
      {content.moves && <p class="faint">Animated image, first frame only.</p>}
    </>
  );
}

const MOST_BYTES = limits.memeFileBytes;
/** Limits on pixels per side and in total. Every phone can decode an image of this size. */
const MOST_SIDE = 8_192;
const MOST_PIXELS = 24_000_000;
/** Length of the longer side as drawn, in pixels. */
const SHOWN_SIDE = 480;
const MOST_TEXT = 2_000;

type Content =
  | { is: 'text'; text: string; cut: boolean }
  | { is: 'still'; draw(canvas: HTMLCanvasElement): void; moves: boolean };

/** @throws {PageError} if the content cannot be shown */
async function contentOf(id: string): Promise<Content> {
  const answer = await fetchPath(`/api/v1/social/memes/${encodeURIComponent(id)}/content`);
  if (Number(answer.headers.get('content-length') ?? 0) > MOST_BYTES) throw tooLarge();
  const bytes = new Uint8Array(await answer.arrayBuffer());
  if (bytes.length > MOST_BYTES) throw tooLarge();
  const size = readImageSize(bytes);
  if (!size) return textOf(bytes);
  const { kind, width, height } = size;
  if (
    width > MOST_SIDE ||
    height > MOST_SIDE ||
    width * height > MOST_PIXELS ||
    width * height === 0
  ) {
    throw new PageError('IMAGE_TOO_LARGE', { width, height, side: MOST_SIDE });
  }
  return stillOf(bytes, kind === 'gif', { width, height });
}

const tooLarge = () => new PageError('MEME_TOO_LARGE', { limit: MOST_BYTES / 1024 ** 2 });

function textOf(bytes: Uint8Array): Content {
  const text = new TextDecoder().decode(bytes.subarray(0, 4 * MOST_TEXT));
  return { is: 'text', text: text.slice(0, MOST_TEXT), cut: bytes.length > text.length };
}

/** Decodes the first frame at the drawn size. */
async function stillOf(bytes: Uint8Array, moves: boolean, size: { width: number; height: number }) {
  const scale = Math.min(1, SHOWN_SIDE / Math.max(size.width, size.height));
  const [width, height] = [size.width, size.height].map((side) =>
    Math.max(1, Math.round(side * scale)),
  );
  const bitmap = await createImageBitmap(new Blob([Uint8Array.from(bytes)]), {
    resizeWidth: width!,
    resizeHeight: height!,
    resizeQuality: 'medium',
  }).catch(() => {
    throw new PageError('IMAGE_DAMAGED');
  });
  const draw = (canvas: HTMLCanvasElement) => {
    canvas.width = width!;
    canvas.height = height!;
    canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
  };
  return { is: 'still' as const, draw, moves };
}
