/** The block that a reader looks at, in all views: the newest, unless the address names another. */
import { useEffect } from 'preact/hooks';
import { tell } from '../data/connect.js';
import { place, setQuery } from '../route/router.js';

const NUMBER = /^\d{1,9}$/;

/** By its number; null for the newest. */
export const lookAt = (block: number | null): void =>
  setQuery({ focus: block === null ? null : String(block) });

/** Tells the worker. */
export function useFocus(): void {
  const named = place.value.query.get('focus');
  const wanted = named !== null && NUMBER.test(named) ? Number(named) : null;
  useEffect(() => tell({ do: 'focus', block: wanted }), [wanted]);
}
