/** A text that may have been signed by mistake, and what to do about it. */
export interface Candidate {
  mistake: string;
  advice: string;
  message: string | Uint8Array;
  /** Of somebody else, lower case. */
  publicKey?: string;
}
