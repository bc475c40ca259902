/**
 * Preloaded with --require. Prevents loading sodium-native in this process and its threads. Each
 * attempt adds a line to the file named by BLOCKED_LOG.
 */
const { appendFileSync } = require('node:fs');
const Module = require('node:module');
const { isMainThread } = require('node:worker_threads');

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function resolveExceptSodium(request, ...rest) {
  if (request === 'sodium-native') {
    appendFileSync(process.env.BLOCKED_LOG, isMainThread ? 'main\n' : 'worker\n');
    throw new Error('sodium-native is blocked by the test');
  }
  return resolveFilename.call(this, request, ...rest);
};
