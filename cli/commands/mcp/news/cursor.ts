/** A place in a network's history, as a model hands it back. */
import type { Position } from '../../../../api/client/index.js';

/** After which event, of which history. */
export type Cursor = Position;

const TEXT = /^([\w-]{1,64}):(\d{1,15})$/;
/** How it is written, for a schema. */
export const CURSOR_PATTERN = TEXT.source;

export const cursorText = ({ epoch, seq }: Cursor): string => `${epoch}:${seq}`;

/** The place that a text names, which fits the pattern. */
export function cursorOf(text: string): Cursor {
  const [, epoch = '', seq = '0'] = TEXT.exec(text) ?? [];
  return { epoch, seq: Number(seq) };
}
