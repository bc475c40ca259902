/** Many runs at a time, in processes of their own. */
export { brokenText, type Failure, type Job, type Outcome } from './job.js';
export { Lane, type LaneLimits } from './lane.js';
export { type JobOptions, jobDefaults, runJobs } from './run.js';
