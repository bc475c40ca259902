/** The operation of each route, by its name in the route table. */
import type { Route, RouteName } from '../../contract/routes.js';
import type { Operation } from './operation.js';
import { readOperations } from './operations-read.js';
import { shownOperations } from './operations-shown.js';
import { specialOperations } from './operations-special.js';
import { writeOperations } from './operations-write.js';

const operations: Record<RouteName, Operation> = {
  ...writeOperations,
  ...readOperations,
  ...shownOperations,
  ...specialOperations,
};

export const operationOf = ({ name }: Route): Operation => operations[name];
