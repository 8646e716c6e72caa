/** Characters that control a terminal, end a line, or change the direction of a text. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/**
 * Escapes the control characters of a text that others have written as `\uXXXX`, except for those in `kept`. JSON keeps
 * its meaning.
 */
export function printable(text: string, kept = ''): string {
  return text.replace(CONTROLS, (control) =>
    kept.includes(control) ? control : `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
