/**
 * Test file order: files that take a minute or more start first. Without a cache, vitest starts
 * with the largest files, and a slow file would run alone at the end.
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
    // A stable sort preserves the order of all other files.
    return sorted.sort((a, b) => order(a) - order(b) || rank(a) - rank(b));
  }
}
