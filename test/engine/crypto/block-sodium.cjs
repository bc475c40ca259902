/**
 * Preloaded with --require: in this process and its threads sodium-native cannot be loaded. Each
 * thread that tried leaves a line in the file named by BLOCKED_LOG.
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
