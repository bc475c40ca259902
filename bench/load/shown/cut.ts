/** Texts of servers and of files: no longer than a page has room for. */

const MOST = 400;

export const cut = (text: string): string =>
  text.length <= MOST ? text : `${[...text.slice(0, 2 * MOST)].slice(0, MOST - 1).join('')}…`;
