/** What a meme holds, fetched on request and looked at before it is shown. */
import { asked } from '../server/api.js';
import { sizeOf } from './size.js';

/** A file of more is not read; the protocol allows no more. */
const MOST_BYTES = 6 * 1024 * 1024;
/** Pixels of a side, and of both together: what every phone can decode. */
const MOST_SIDE = 8_192;
const MOST_PIXELS = 24_000_000;
/** Of the still that is drawn. */
const SHOWN = 480;
const MOST_TEXT = 2_000;

export type Content =
  | { is: 'text'; text: string; cut: boolean }
  | {
      is: 'still';
      draw(canvas: HTMLCanvasElement): void;
      width: number;
      height: number;
      moves: boolean;
    };

/** @throws {Error} when it cannot be shown, in words for the reader */
export async function contentOf(id: string): Promise<Content> {
  const answer = await asked(`/api/v1/social/memes/${encodeURIComponent(id)}/content`);
  if (Number(answer.headers.get('content-length') ?? 0) > MOST_BYTES) throw tooLarge();
  const bytes = new Uint8Array(await answer.arrayBuffer());
  if (bytes.length > MOST_BYTES) throw tooLarge();
  const size = sizeOf(bytes);
  if (!size) return textOf(bytes);
  const { kind, width, height } = size;
  if (
    width > MOST_SIDE ||
    height > MOST_SIDE ||
    width * height > MOST_PIXELS ||
    width * height === 0
  ) {
    throw new Error(
      `It says that it is ${width} by ${height} pixels: so large an image is not opened.`,
    );
  }
  return stillOf(bytes, kind === 'gif', { width, height });
}

const tooLarge = () => new Error('The file is larger than a meme may be: it is not opened.');

function textOf(bytes: Uint8Array): Content {
  const text = new TextDecoder().decode(bytes.subarray(0, 4 * MOST_TEXT));
  return { is: 'text', text: text.slice(0, MOST_TEXT), cut: bytes.length > text.length };
}

/** The first frame, no larger than it is drawn: whatever moves is still. */
async function stillOf(bytes: Uint8Array, moves: boolean, size: { width: number; height: number }) {
  const scale = Math.min(1, SHOWN / Math.max(size.width, size.height));
  const [width, height] = [size.width, size.height].map((side) =>
    Math.max(1, Math.round(side * scale)),
  );
  const bitmap = await createImageBitmap(new Blob([Uint8Array.from(bytes)]), {
    resizeWidth: width!,
    resizeHeight: height!,
    resizeQuality: 'medium',
  }).catch(() => {
    throw new Error('The image is damaged: this browser cannot open it.');
  });
  const draw = (canvas: HTMLCanvasElement) => {
    canvas.width = width!;
    canvas.height = height!;
    canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
  };
  return { is: 'still' as const, draw, width: width!, height: height!, moves };
}
