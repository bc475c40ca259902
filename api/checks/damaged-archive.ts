/** How readers are refused a part of the past that lies in a damaged segment of the archive. */

import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { ArchiveError } from '../../engine/store/segment.js';

/** The refusal that a damaged segment is to who asked for it; null for any other error. */
export function refuseDamagedArchive(error: unknown): Refusal | null {
  if (!(error instanceof ArchiveError)) return null;
  const { first, last, first_event, last_event } = error.segment;
  const details = { first, last, first_event, last_event };
  return refuse('ARCHIVE_DAMAGED', details, { details });
}

/** Rows up to where the past is damaged; throws only where the very first cannot be read. */
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

/** Whether an error is the first about a segment: readers must not fill the log. */
export function firstOfEach(): (error: unknown) => boolean {
  const reported = new Set<string>();
  return (error) => {
    const file = error instanceof ArchiveError ? error.segment.file : '';
    const isNew = !reported.has(file);
    reported.add(file);
    return isNew;
  };
}
