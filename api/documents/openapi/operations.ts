/** What the documents say of each route, by its name in the route table. */
import type { CommandKind } from '../../../engine/internal.js';
import type { ReadName } from '../../contract/answers.js';
import type { Route, SpecialRoute } from '../../contract/routes.js';
import type { Operation } from './operation.js';
import { readOperations } from './operations-read.js';
import { specialOperations } from './operations-special.js';
import { writeOperations } from './operations-write.js';

export type OperationName = CommandKind | ReadName | SpecialRoute;

const operations: Record<OperationName, Operation> = {
  ...writeOperations,
  ...readOperations,
  ...specialOperations,
};

export function operationOf(route: Route): Operation {
  if ('write' in route) return operations[route.write];
  return operations['special' in route ? route.special : route.name];
}
