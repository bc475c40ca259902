/** Many runs at a time, in processes of their own. */
export { brokenText, type Failure, type Job, type Outcome, usesDeciders } from './job.js';
export { type JobOptions, jobDefaults, runJobs } from './run.js';
export { type JobLimits, JobWorker } from './worker.js';
