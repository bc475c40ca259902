#!/usr/bin/env -S node --max-semi-space-size=128
/**
 * The program `folkmoot`. The flag enlarges the young generation of the heap. Entries live from
 * apply to commit, and with V8's default of 16 MiB the garbage collector copies them meanwhile,
 * which costs an eighth of the time per vote. V8 reads the flag only at startup.
 */
import { exitProcess } from '../engine/store/process-end.js';
import { exitCodes, outputError, report } from './output/exit.js';
import { processIo } from './output/io.js';
import { run } from './run.js';

const fail = (error: unknown) => exitProcess(report(error));

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader closed the pipe, as `| head` does.
  if (error.code === 'EPIPE') exitProcess(exitCodes.done);
  else fail(outputError('STDOUT_NOT_WRITABLE', { reason: error.message }));
});

// The command continues when the reader of its progress closes the pipe.
process.stderr.on('error', () => {});

process.on('uncaughtException', fail);

run(processIo(exitProcess)).then((code) => {
  process.exitCode = code;
}, fail);
