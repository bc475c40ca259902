/** What the server makes of its log before it can answer is asked for until it is there. */
import { Refused } from './source.js';

export const MADE_AGAIN_MS = 500;

export const isBeingMade = (error: unknown): error is Refused =>
  error instanceof Refused && error.reason === 'BEING_MADE';

/**
 * Takes steps until one says that it was the last, each of them for what the reader wants by then.
 * `notice` is told why nothing is there yet, and null once something is.
 */
export async function patiently(
  step: () => Promise<boolean>,
  notice: (text: string | null) => void,
): Promise<void> {
  for (let waits = false; ; ) {
    try {
      const more = await step();
      if (waits) notice(null);
      if (!more) return;
      waits = false;
    } catch (error) {
      if (!isBeingMade(error)) throw error;
      waits = true;
      notice(`It comes as soon as the server has made it: ${error.message}`);
      await new Promise((again) => setTimeout(again, MADE_AGAIN_MS));
    }
  }
}
