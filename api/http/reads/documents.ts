/** The documents and the page, as answers: what the build or the first request made. */
import type { DocumentName } from '../../contract/routes.js';
import type { RequestHead } from '../../transport/transport.js';
import type { Call, Handler } from '../handler.js';
import type { Answer } from '../response/envelope.js';
import { served } from '../response/served.js';
import { noRoute } from '../route-answers.js';

export const document =
  (name: DocumentName) =>
  async ({ head }: Pick<Call, 'head'>): Promise<Answer> => {
    // Not before somebody asks: most servers run without being read.
    const { documentFile } = await import('../../documents/pages.js');
    return served(documentFile(name), head.headers);
  };

/** The page itself, wherever in it a link points: the page finds its own way. */
export const page: Handler = (call) => ifShown(call, 'index.html');

/** What the page is made of: its paths name what is in them. */
export const pageAsset: Handler = (call) => ifShown(call, call.params[0] ?? '');

const ifShown = ({ head, services }: Call, name: string) =>
  services.ui ? builtFile(name, head) : noRoute(head);

/** A file of the page. */
export async function builtFile(name: string, head: RequestHead): Promise<Answer> {
  const { pageFile } = await import('../../documents/page.js');
  const found = pageFile(name);
  return found ? served(found, head.headers) : noRoute(head);
}
