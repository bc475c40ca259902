/** The token by which a world's clock is controlled: printed in the page's address. */

const KEY = 'folkmoot-token';

/** Taken out of the address at once: it is not to be copied with a link, nor kept in a history. */
export function takeToken(): void {
  const token = /^#token=([\w-]{1,256})$/.exec(location.hash)?.[1];
  if (token === undefined) return;
  sessionStorage.setItem(KEY, token);
  history.replaceState(null, '', location.pathname + location.search);
}

export const tokenKept = (): string | null => sessionStorage.getItem(KEY);
