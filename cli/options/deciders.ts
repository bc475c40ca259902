/** Options of the commands that run scenarios in virtual time: whoever decides outside of them. */
import { Option } from 'commander';
import { UsageError } from '../output/exit.js';
import { integer } from './options.js';

export interface DeciderFlags {
  record?: boolean;
  cassette?: string;
  mostCalls?: number;
}

export function deciderOptions(): Option[] {
  return [
    new Option('--record', 'ask external deciders, and keep what they answer'),
    new Option('--cassette <dir>', 'take their answers from this run, or this cassette'),
    mostCallsOption(),
  ];
}

export const mostCallsOption = (): Option =>
  new Option(
    '--most-calls <n>',
    'with --record: stop each run after n calls; repeat to continue',
  ).argParser(integer({ least: 0, most: 1_000_000_000 }));

/** @throws {UsageError} for a budget of nothing. */
export function decidersFrom({ record, cassette, mostCalls }: DeciderFlags) {
  if (mostCalls !== undefined && !record) {
    throw new UsageError('--most-calls is for --record: without it nobody is asked');
  }
  return {
    ...(record === undefined ? {} : { record }),
    ...(cassette === undefined ? {} : { cassette }),
    ...(mostCalls === undefined ? {} : { mostCalls }),
  };
}
