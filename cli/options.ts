/** Readers of option values: what is not meant is refused with what would be. */
import { InvalidArgumentError } from 'commander';

export function integer(bounds: { least: number; most: number }): (text: string) => number {
  return (text) => {
    const value = Number(text);
    const whole = /^\d{1,15}$/.test(text) && value >= bounds.least && value <= bounds.most;
    if (whole) return value;
    throw new InvalidArgumentError(
      `expected a whole number from ${bounds.least} to ${bounds.most}`,
    );
  };
}
