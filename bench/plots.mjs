import { init } from 'echarts';
import { median } from './figures.mjs';

const WIDTH = 760;
const BAR_HEIGHT = 20;
/** Have enough contrast on white and on dark pages. */
const TEXT = '#7d828a';
const COLOURS = ['#2f7fe6', '#8a929c', '#b0803a', '#8f72c9', '#4d9a63'];
/** An image has no pointer. */
const HOVER_STYLES = / class="[^"]*"|<style.*<\/style>/gs;
/** Begins names, and counts the plots of this process. */
const PLOT_NUMBER = /zr\d+-/g;

/** @typedef {{title: string, svg: string}} Plot an image for light and dark pages */

/**
 * Plots the medians of a figure as horizontal bars, one for each variant of each group. Those of a variant have one colour.
 * @param {import('./figures.mjs').Figure} figure
 * @param {[name: string, results: Record<string, import('./meter.mjs').Measured[]>][]} groups
 * @param {(variant: string) => string} [nameOf]
 * @returns {Plot}
 */
export function figurePlot({ title, of, format }, groups, nameOf = (variant) => variant) {
  const variants = Object.keys(groups[0][1]);
  return plot(title, 100 + groups.length * variants.length * BAR_HEIGHT, {
    xAxis: { show: false },
    yAxis: { data: groups.map(([name]) => name), inverse: true, axisTick: { show: false }, axisLabel: { color: TEXT } },
    series: variants.map((variant) => ({
      name: nameOf(variant),
      type: 'bar',
      data: groups.map(([, results]) => median((results[variant] ?? []).map(of))),
      label: { show: true, position: 'right', color: TEXT, formatter: ({ value }) => format(value) },
    })),
  });
}

/**
 * Plots lines over time.
 * @param {string} title
 * @param {Record<string, [seconds: number, value: number][]>} lines by name
 * @returns {Plot}
 */
export function linePlot(title, lines) {
  return plot(title, 320, {
    xAxis: { type: 'value', axisLabel: { color: TEXT, formatter: '{value} s' }, splitLine: { show: false } },
    yAxis: { type: 'value', axisLabel: { color: TEXT }, splitLine: { lineStyle: { color: TEXT, opacity: 0.3 } } },
    series: Object.entries(lines).map(([name, data]) => ({ name, type: 'line', data, symbol: 'none' })),
  });
}

function plot(title, height, option) {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height });
  chart.setOption({
    animation: false,
    color: COLOURS,
    title: { text: title, left: 0, top: 0, textStyle: { color: TEXT, fontSize: 14 } },
    legend: { top: 26, left: 0, textStyle: { color: TEXT } },
    grid: { top: 60, left: 8, right: 64, bottom: 8, containLabel: true },
    ...option,
  });
  const rendered = chart.renderToSVGString();
  chart.dispose();
  return { title, svg: `${rendered.replaceAll(HOVER_STYLES, '').replaceAll(PLOT_NUMBER, 'plot-')}\n` };
}
