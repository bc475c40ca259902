/** The dialect of its own: a question is posted as it is, and an answer comes back. */
import { sent } from './door.js';
import type { Dialect } from './http.js';

export const plainDialect: Dialect = {
  bodyOf: sent,
  saidIn: (value) => ({ value }),
};
