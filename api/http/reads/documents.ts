/** The documents, the page that shows one of them, and its scripts, as answers. */
import type { DocumentName } from '../../contract/routes.js';
import { contentPolicy } from '../../documents/reference-page.js';
import type { Handler } from '../handler.js';

export const document =
  (name: DocumentName): Handler =>
  async () => {
    // Not before somebody asks: most servers run without being read.
    const { pageOf } = await import('../../documents/pages.js');
    const { type, body } = await pageOf(name);
    const headers = {
      'Content-Type': type,
      'Content-Security-Policy': contentPolicy,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'public, max-age=300',
    };
    return { status: 200, headers, body };
  };
