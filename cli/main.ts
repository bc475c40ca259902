#!/usr/bin/env -S node --max-semi-space-size=128
/**
 * The program `folkmoot`. The flag gives young objects more room: entries live from apply to
 * commit, and with V8's default of 16 MiB they are copied on their way, which costs an eighth of a
 * vote. It can be set at the start only.
 */
import { exitProcess } from '../engine/store/process-end.js';
import { exitCodes, OutputError, report } from './output/exit.js';
import { processIo } from './output/io.js';
import { run } from './run.js';

const fail = (error: unknown) => exitProcess(report(error));

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader went away, as `| head` does.
  if (error.code === 'EPIPE') exitProcess(exitCodes.done);
  else fail(new OutputError(`standard output cannot be written: ${error.message}`));
});

// The reader of progress went away: the command goes on.
process.stderr.on('error', () => {});

process.on('uncaughtException', fail);

run(processIo(exitProcess)).then((code) => {
  process.exitCode = code;
}, fail);
