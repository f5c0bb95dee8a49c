/** The product's sign: lines of an order, and the tick that ends it. */
export function Mark({ className }: { className?: string }) {
  return (
    <svg aria-hidden viewBox="0 0 32 32" fill="none" className={className}>
      <rect width="32" height="32" rx="8" className="fill-accent" />
      <path
        d="M9 10.5h6.5M9 16h4M9 21.5h6.5"
        strokeWidth="2.6"
        strokeLinecap="round"
        className="stroke-accent-ink/75"
      />
      <path
        d="m17.5 16.2 2.8 2.9 5-6.2"
        strokeWidth="2.8"
        strokeLinecap="round"
        strokeLinejoin="round"
        className="stroke-accent-ink"
      />
    </svg>
  );
}
