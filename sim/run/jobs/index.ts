/** Many runs at a time, in processes of their own. */
export {
  brokenText,
  type Failure,
  type Job,
  type Lasting,
  lasting,
  type Outcome,
  usesDeciders,
} from './job.js';
export { type JobOptions, jobDefaults, runJobs, type Spread, type SpreadOptions } from './run.js';
export { type JobLimits, JobWorker } from './worker.js';
