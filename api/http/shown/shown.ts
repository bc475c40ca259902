/** What takes a while the first time: asked for patiently, and refused in words when it must be. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ArchiveError, type Refusal, refuse, StoreError } from '../../../engine/internal.js';
import type { Call, Handler } from '../handler.js';
import type { Progress } from '../past.js';
import { counted, queryOf } from '../reads/counted.js';
import type { Answer } from '../response/envelope.js';

/** What one of these counts as: they cost more than other reads. */
const COST = 4;
/** How long is waited for what is being made; it goes on all the same. */
const PATIENCE_MS = 2_000;

/** What gives an answer: with the query, read. */
export type Showing = (call: Call, query: URLSearchParams) => Promise<Answer>;

interface How {
  /** How far that is which is waited for; by default the view. */
  progressOf?: (services: Call['services']) => Progress | null;
  cost?: number;
}

const late = Symbol('late');

/** Counts against its address as reads do, and more. */
export const shown = (show: Showing, { progressOf = ofView, cost = COST }: How = {}): Handler =>
  counted(async (call) => {
    const work = show(call, queryOf(call.head.target)).catch(refused);
    const first = await Promise.race([work, sleep(PATIENCE_MS, late, { ref: false })]);
    return first === late ? beingMade(progressOf(call.services)) : first;
  }, cost);

const ofView = ({ view }: Call['services']) => view.progress;

function refused(error: unknown): Answer {
  if (error instanceof RangeError) return { refusal: refuse('UNKNOWN_ENTRY', error.message) };
  if (error instanceof ArchiveError || !(error instanceof StoreError)) throw error;
  return { refusal: refuse('LOG_DAMAGED', error.message) };
}

function beingMade(progress: Progress | null): { refusal: Refusal } {
  const how = progress ? `at entry ${progress.entry} of ${progress.to}` : 'soon there';
  const details = progress ? { entry: progress.entry, to: progress.to } : {};
  return {
    refusal: refuse('BEING_MADE', `the log is gone through: ${how}; try again`, { details }),
  };
}
