/** What a folder records of its archived segments. Types only: everything here may use them. */

/** Which part of the past a segment holds, both ends inclusive, and both ends of its chains. */
export interface SegmentRange {
  first: number;
  last: number;
  /** `last_event` is `first_event - 1` where there are none. */
  first_event: number;
  last_event: number;
  /** Hex; both digests before the first entry, and after the last. */
  log_digest_before: string;
  digest_before: string;
  log_digest: string;
  digest: string;
}

/** What the folder records of a segment: any change of the file contradicts it. */
export interface Segment extends SegmentRange {
  /** Name in the folder's `archive/`. */
  file: string;
  bytes: number;
  /** Hex, of the whole file. */
  sha256: string;
  index_bytes: number;
  /** Hex, of the index, which holds the digest of each block. */
  index_sha256: string;
  /** Entries and events as they were stored, before compression. */
  raw_bytes: number;
}
