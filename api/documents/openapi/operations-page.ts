/** The page that shows a network, as the documents describe it. */
import { Type } from '../../../engine/internal.js';
import type { PageName } from '../../contract/routes.js';
import type { Operation, Parameter } from './operation.js';

const page = (id: string, summary: string, path: readonly Parameter[] = []): Operation => ({
  id,
  tag: 'documents',
  summary,
  extension: true,
  ...(path.length > 0 ? { path } : {}),
  content: { 'text/html': Type.String() },
  reasons: ['UNKNOWN_ROUTE'],
});

const view = { name: 'view', text: 'of the page, as in its address', schema: Type.String() };
const item = { name: 'item', text: 'what it shows: a hash or an id', schema: Type.String() };

export const pageOperations: Record<PageName, Operation> = {
  page: {
    ...page('getPage', 'The page that shows the network, live and at any entry'),
    text: 'Not there where the server was told to do without. What it is made of is packed ahead.',
  },
  page_bare: page('getPageBare', 'The same page'),
  page_view: page('getPageView', 'The same page, which finds its view by its address', [view]),
  page_item: page('getPageItem', 'The same page, at one thing in a view', [view, item]),
  page_asset: {
    ...page('getPageAsset', 'What the page is made of'),
    text: 'Its name changes with what is in it, so it may be kept for ever.',
    path: [{ name: 'file', text: 'a name as the page has it', schema: Type.String() }],
    content: { 'text/javascript': Type.String(), 'text/css': Type.String() },
  },
};
