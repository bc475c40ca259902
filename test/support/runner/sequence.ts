/**
 * The order of test files: those that take a minute or more begin first. On a machine that has not
 * run them before, vitest would begin with the largest files, and the last one run on alone.
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { longest } from './files.js';

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const path = relative(`${this.ctx.config.root}/test`, moduleId);
      const place = longest.indexOf(path.replace(/(?:\.slow)?\.test\.ts$/, ''));
      return place < 0 ? longest.length : place;
    };
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    const order = ({ project }: TestSpecification) => projects.indexOf(project);
    // Stable: all others stay as they were.
    return sorted.sort((a, b) => order(a) - order(b) || rank(a) - rank(b));
  }
}
