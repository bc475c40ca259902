/** The documents and the page, as answers: what the build or the first request made. */
import { refuse } from '../../../engine/internal.js';
import type { DocumentName } from '../../contract/routes.js';
import type { Handler } from '../handler.js';
import { served } from '../response/served.js';

export const document =
  (name: DocumentName): Handler =>
  async ({ head }) => {
    // Not before somebody asks: most servers run without being read.
    const { documentFile } = await import('../../documents/pages.js');
    return served(documentFile(name), head.headers);
  };

/** The page itself, wherever in it a link points: the page finds its own way. */
export const page: Handler = (call) => file('index.html')(call);

/** What the page is made of: its paths name what is in them. */
export const pageAsset: Handler = (call) => file(call.params[0] ?? '')(call);

const file =
  (name: string): Handler =>
  async ({ head, services }) => {
    if (!services.ui) return { refusal: unknown(head.path) };
    const { pageFile } = await import('../../documents/page.js');
    const found = pageFile(name);
    return found ? served(found, head.headers) : { refusal: unknown(head.path) };
  };

const unknown = (path: string) =>
  refuse('UNKNOWN_ROUTE', `nothing answers at ${path.slice(0, 256)}`);
