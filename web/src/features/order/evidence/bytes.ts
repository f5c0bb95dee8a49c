/** "0 B", "812 B", "1.4 kB", "23 MB", "1.1 GB". Steps of 1000, as disks and networks count. */
export function bytes(count: number | null | undefined): string {
  if (count === null || count === undefined || !Number.isFinite(count) || count < 0) return "—";
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let value = count;
  let step = 0;
  // What would be rounded to 1000 belongs to the next unit.
  while (value >= 999.5 && step < units.length - 1) {
    value /= 1000;
    step++;
  }
  const digits = step > 0 && value < 9.95 ? 1 : 0;
  return `${value.toFixed(digits)} ${units[step] ?? "B"}`;
}
