/** What `folkmoot replay` is asked, and what its page takes part with. */
import type { LogLine, ReplayOptions } from '../../../engine/internal.js';
import type { WatchFlags } from '../page/door.js';

export interface Flags extends WatchFlags {
  signatures?: boolean;
  verifier: 'pool' | 'inline' | 'reference';
  to?: number;
  json?: boolean;
}

/** What a page takes part with. */
export interface WatchedOptions extends Pick<ReplayOptions, 'onStep'> {
  paced(lines: Iterable<LogLine>): AsyncIterable<LogLine>;
}
