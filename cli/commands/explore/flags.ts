/** What `folkmoot explore` may be given beside its folder. */
import type { DoorFlags } from '../page/door.js';

export interface ExploreFlags extends DoorFlags {
  /** A file, or where it stands by default. */
  export?: true | string;
  open?: 'yes' | 'no';
  verify?: boolean;
  json?: boolean;
}
