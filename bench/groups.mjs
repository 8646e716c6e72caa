import { StepError } from '../tools/steps.mjs';
import { rowOf } from './figures.mjs';

/**
 * Figures that are measured together.
 * @typedef {object} Group
 * @property {Record<string, import('./load/generate.mjs').Load & {subject?: string}>} variants the load of each; the
 *   subject is by default the one that the variant is named after
 * @property {import('./figures.mjs').Figure[]} figures
 * @property {number} [rounds] if not those of the benchmark
 * @property {(variant: string, subject: import('./subjects.mjs').Subject) => unknown} [before] each measurement
 * @property {Group['before']} [after]
 */

/**
 * Measures groups one after another, each round by round, so that other work on the machine affects all variants.
 * @param {Record<string, import('./subjects.mjs').Subject>} subjects by name
 * @param {Record<string, Group>} groups by title
 * @returns the rows of their figures and, by group and variant, what was measured in each round
 */
export async function measureGroups(bench, subjects, groups) {
  const rows = [];
  const results = {};
  for (const [title, group] of Object.entries(chosen(groups, bench.options.only))) {
    results[title] = await measureGroup(bench, subjects, title, group);
    rows.push(...group.figures.map((figure) => rowOf(figure, results[title])));
  }
  return { rows, results };
}

/** Returns the groups with these titles, or with one of these texts in their titles, or all. */
export function chosen(groups, only) {
  if (only.length === 0) return groups;
  const isChosen = (title) => only.some((part) => (part in groups ? part === title : title.includes(part)));
  const found = Object.entries(groups).filter(([title]) => isChosen(title));
  if (found.length > 0) return Object.fromEntries(found);
  throw new StepError(`No group is called ${only.join(' or ')}; available: ${Object.keys(groups).join('; ')}`);
}

/** Returns the same load for several variants. */
export function sameLoad(variants, load) {
  return Object.fromEntries(variants.map((variant) => [variant, load]));
}

/**
 * Measures variants in turn. A load may affect the one after it, so every second round is in reverse order, and another
 * variant comes first after every two rounds.
 */
export async function interleave(variants, rounds, measure) {
  const results = Object.fromEntries(variants.map((variant) => [variant, []]));
  for (let round = 0; round < rounds; round += 1) {
    const first = Math.floor(round / 2) % variants.length;
    const order = [...variants.slice(first), ...variants.slice(0, first)];
    for (const variant of round % 2 === 0 ? order : order.reverse()) results[variant].push(await measure(variant));
  }
  return results;
}

function measureGroup({ launcher, meter, size }, subjects, title, { variants, rounds = size.rounds, before, after }) {
  return launcher.steps.run(title, () =>
    interleave(Object.keys(variants), rounds, async (variant) => {
      const { subject: name = variant, ...load } = variants[variant];
      await before?.(variant, subjects[name]);
      try {
        return await meter.measure(subjects[name], load);
      } finally {
        await after?.(variant, subjects[name]);
      }
    }),
  );
}
