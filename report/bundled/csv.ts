/** Reads and writes CSV. The build bundles this file: 60 KB instead of 2.6 MB of packages. */
export { parse } from 'csv-parse';
export { stringify } from 'csv-stringify/sync';
