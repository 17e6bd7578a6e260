// A button with a panel below it.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from '../icons';

export function Pop({ label, icon, iconOnly, quiet, text, children }: {
  label: string; icon: IconName; iconOnly?: boolean; quiet?: boolean; text?: ComponentChildren;
  children: (close: () => void) => ComponentChildren;
}): JSX.Element {
  const [open, setOpen] = useState(false);
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const outside = (event: Event) => { if (!element.current?.contains(event.target as Node)) setOpen(false); };
    const key = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      setOpen(false);
      element.current?.querySelector('button')?.focus();
    };
    document.addEventListener('pointerdown', outside);
    document.addEventListener('focusin', outside);
    document.addEventListener('keydown', key);
    return () => {
      document.removeEventListener('pointerdown', outside);
      document.removeEventListener('focusin', outside);
      document.removeEventListener('keydown', key);
    };
  }, [open]);
  return (
    <div class="pop" ref={element}>
      <button type="button" class={`btn ${quiet ? 'btn-quiet' : ''} ${iconOnly ? 'btn-icon' : ''}`} aria-label={label} title={iconOnly ? label : undefined} aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={icon} />{!iconOnly && (text ?? label)}
      </button>
      {open && <div class="pop-panel">{children(() => setOpen(false))}</div>}
    </div>
  );
}
