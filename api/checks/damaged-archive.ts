/** Refusals for reads that hit a damaged archive segment. */

import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { ArchiveError } from '../../engine/store/segment.js';

/** Returns the refusal for a damaged segment, or null for any other error. */
export function refuseDamagedArchive(error: unknown): Refusal | null {
  if (!(error instanceof ArchiveError)) return null;
  const { first, last, first_event, last_event } = error.segment;
  const details = { first, last, first_event, last_event };
  return refuse('ARCHIVE_DAMAGED', details, { details });
}

/** Yields rows up to the first damaged row. Throws only if the first row is damaged. */
export function* readable<Row>(rows: Iterable<Row>): Generator<Row, void> {
  let any = false;
  try {
    for (const row of rows) {
      yield row;
      any = true;
    }
  } catch (error) {
    if (!any || !(error instanceof ArchiveError)) throw error;
  }
}

/** Returns a function that is true for the first error per segment, to bound the log. */
export function firstOfEach(): (error: unknown) => boolean {
  const reported = new Set<string>();
  return (error) => {
    const file = error instanceof ArchiveError ? error.segment.file : '';
    const isNew = !reported.has(file);
    reported.add(file);
    return isNew;
  };
}
