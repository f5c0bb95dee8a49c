import { Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { TextInput } from "@/ui/text-input";

const DEBOUNCE_MS = 250;

export interface SearchBoxProps {
  label: string;
  placeholder?: string;
  maxLength: number;
  value: string;
  onSearch: (text: string) => void;
}

/** Searches when somebody stops typing, or at Enter. Follows the address when that changes. */
export function SearchBox({ label, placeholder, maxLength, value, onSearch }: SearchBoxProps) {
  const [text, setText] = useState(value);
  const [known, setKnown] = useState({ value, sent: value });
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);

  if (value !== known.value) {
    setKnown({ ...known, value });
    // Somebody may have typed on since it was sent: their text stays.
    if (value !== known.sent.trim()) setText(value);
  }

  // Outside system: a timer that must not search after the page is gone.
  useEffect(() => () => clearTimeout(timer.current), []);

  const send = (next: string) => {
    clearTimeout(timer.current);
    setKnown((old) => ({ ...old, sent: next }));
    onSearch(next);
  };
  const type = (next: string) => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => send(next), DEBOUNCE_MS);
  };

  return (
    <TextInput
      type="search"
      icon={Search}
      aria-label={label}
      placeholder={placeholder ?? label}
      data-shortcut="search"
      maxLength={maxLength}
      value={text}
      onChange={(event) => type(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter") send(text);
        if (event.key === "Escape" && text !== "") {
          event.preventDefault();
          setText("");
          send("");
        }
      }}
    />
  );
}
