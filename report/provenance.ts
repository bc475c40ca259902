/** Which build made a result: every summary and report says it. */

export interface Provenance {
  version: string;
  /** Null outside a checkout. */
  commit: string | null;
  node: string;
}
