/** What a page may lack that is not at a server: words stand in its place then. */
import type { ComponentChildren } from 'preact';
import { home, type Need } from '../home/home.js';

export function Lacking({ what, children }: { what: Need; children: ComponentChildren }) {
  const words = home.lacks[what];
  return words === undefined ? children : <p class="faint">{words}</p>;
}
