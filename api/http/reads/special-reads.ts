/** Reads beside the committed views: meta, a meme's file, debugging, and the documents. */
import { type Network, refuse } from '../../../engine/internal.js';
import { type Figures, figuresOf, type Profile, shownLimits } from '../../contract/limit-table.js';
import type { DocumentRoute, SpecialRoute } from '../../contract/routes.js';
import type { Connections } from '../../socket/connections.js';
import type { HttpRequest, HttpResponse } from '../../transport/transport.js';
import { failure, success } from '../response/envelope.js';
import { debugSocket, debugVerify } from './debug.js';
import { pathProblem } from './parameters.js';
import { rootAnswer } from './root.js';

interface Served {
  network: Network;
  profile: Profile;
  figures?: Partial<Figures>;
  version: string;
  now: () => number;
}

export async function specialRead(
  connections: Connections,
  options: Served,
  what: SpecialRoute,
  request: HttpRequest,
  id: string,
  requestId: string,
): Promise<HttpResponse> {
  const { network, now } = options;
  if (what === 'root') return rootAnswer(request);
  if (what === 'meta') return success(200, meta(options));
  if (what === 'debug_verify') return debugVerify(network, now, request, requestId);
  if (what === 'debug_ws') return debugSocket(connections, network, now, request, id, requestId);
  if (what === 'meme_content') return memeContent(network, id, requestId);
  // Not before somebody asks: most servers run without being read.
  const { served } = await import('../../documents/documents.js');
  return served(what as DocumentRoute);
}

function memeContent(network: Network, id: string, requestId: string): HttpResponse {
  const refusal = pathProblem('meme_id', id);
  if (refusal) return failure(refusal, requestId);
  const content = network.read.memeContent(id);
  if (!content) {
    return failure(refuse('UNKNOWN_MEME', `no meme has the id ${id.slice(0, 64)}`), requestId);
  }
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
}

function meta({ network, profile, figures, version }: Served) {
  const { schema_version, epoch, seq, event_seq, digest, log_digest } = network.read.position;
  return {
    version,
    ...network.genesis,
    epoch,
    schema_version,
    seq,
    event_seq,
    digest,
    log_digest,
    durable: network.durableOnDisk,
    limits: { profile, ...shownLimits(figuresOf(profile, figures)) },
  };
}
