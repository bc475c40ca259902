/** All tools, in the order in which a model is told of them. */
import { consensusTools } from './consensus.js';
import { lookTools } from './look.js';
import { selfTools } from './self.js';
import { socialTools } from './social.js';
import type { Tool } from './tool.js';
import { waitTools } from './wait.js';

export const tools: readonly Tool[] = [
  ...lookTools,
  ...selfTools,
  ...consensusTools,
  ...socialTools,
  ...waitTools,
];
