// The y scale of a line chart.

/** At most four round steps up to the maximum. */
function stepOf(high: number): number {
  const power = 10 ** Math.floor(Math.log10(high / 4));
  return power * ([1, 2, power >= 10 ? 2.5 : 5, 5].find((factor) => factor * power * 4 >= high) ?? 10);
}

/** The top of the chart is the highest grid line. */
export const topOf = (high: number | null) => (high && high > 0 ? Math.ceil(high / stepOf(high) - 1e-9) * stepOf(high) : 1);

export function steps(low: number, high: number): number[] {
  const step = stepOf(high);
  return Array.from({ length: Math.round((high - low) / step) + 1 }, (_, index) => low + index * step);
}
