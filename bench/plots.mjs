import { barPlot, linePlot } from './svg.mjs';
import { median } from './rounds.mjs';
import { duration } from './rows.mjs';

/**
 * Returns plots of the creates per second and of their p99, by subject.
 * @param {{connections: number, title: string, rounds: import('./meter.mjs').Measured[]}[]} loads
 * @returns {Record<string, string>}
 */
export function loadPlots(loads) {
  if (loads.length === 0) return {};
  const plot = (title, valueOf, format) => {
    const connections = [...new Set(loads.map((load) => load.connections))];
    const groups = connections.map((count) => ({
      title: `${count} connections`,
      bars: loads
        .filter((load) => load.connections === count)
        .map(({ title: label, rounds }) => bar(label, median(rounds.map(({ creates }) => valueOf(creates))), format)),
    }));
    return barPlot(title, groups);
  };
  return {
    creates: plot(
      'Creates per second',
      ({ perSecond }) => perSecond,
      (value) => value.toFixed(0),
    ),
    p99: plot('p99 of a create', ({ ms }) => ms.p99, duration),
  };
}

/** Returns a plot of how the service keeps up with a burst. */
export function drainPlot(title, { rate, count }, timeline) {
  const created = timeline.map((total, tenth) => [(tenth + 1) / 10, total]);
  const sent = [
    [0, 0],
    [count / rate, count],
  ];
  return linePlot(title, [
    { label: 'created', points: [[0, 0], ...created] },
    { label: 'sent', points: sent },
  ]);
}

/**
 * Returns a plot of the time that each query takes in a large and in a small catalogue.
 * @param {{figure: string, large: number, small: number}[]} queries times in ms
 * @param {{large: string, small: string}} titles
 */
export function growthPlot(queries, titles) {
  const groups = queries.map(({ figure, large, small }) => ({
    title: figure,
    bars: [bar(titles.large, large, duration), bar(titles.small, small, duration)],
  }));
  return barPlot('p50 of a read, by the size of the catalogue', groups);
}

function bar(label, value, format) {
  return { label, value, text: format(value) };
}
