/** What a load run and the thread that serves its page tell each other. */
import type { LoadShown } from '../../../../api/view/load.js';

/** What the thread begins with. */
export interface PageSetting {
  host: string;
  port: number;
  load: LoadShown;
}

/** `end`: nothing comes after it, and the thread ends once it was seen. */
export interface ToPage {
  do: 'show' | 'end';
  load: LoadShown;
}

export type FromPage =
  | { is: 'listening'; page: string }
  | { is: 'problem'; message: string }
  /** Whether anybody looks: what nobody sees need not be made. */
  | { is: 'watched'; watched: boolean }
  | { is: 'asked'; what: 'resume' | 'stop' };
