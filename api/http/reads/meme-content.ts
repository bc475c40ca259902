/** A meme's file, as strangers made it: whoever opens it must not run it. */
import { refuse } from '../../../engine/internal.js';
import type { Handler } from '../handler.js';
import { pathProblem } from './parameters.js';

export const memeContent: Handler = ({ services: { network }, params: [id = ''] }) => {
  const refusal = pathProblem('meme_id', id);
  if (refusal) return { refusal };
  const content = network.read.memeContent(id);
  if (!content) return { refusal: refuse('UNKNOWN_MEME', `no meme has the id ${id.slice(0, 64)}`) };
  return {
    status: 200,
    headers: {
      'Content-Type': content.mediaType,
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "sandbox; default-src 'none'",
      'Cache-Control': 'public, max-age=31536000, immutable',
    },
    body: content.bytes,
  };
};
