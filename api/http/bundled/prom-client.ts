/**
 * The parts of prom-client that metrics use. The build bundles this file, so that the package does
 * not depend on prom-client's packages for summaries.
 */
export { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
