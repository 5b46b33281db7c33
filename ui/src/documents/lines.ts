/** Text from elsewhere, with whatever line ends, as lines of a document. */

import { Text } from "@codemirror/state";

export function linesFrom(text: string): Text {
  return Text.of(text.split(/\r\n?|\n/));
}

/** What ends the lines of a file: where it has only CR LF, that; a lone CR is a character like any other. */
export function endOf(text: string): "\r\n" | "\n" {
  return text.includes("\r\n") && !/(?<!\r)\n|\r(?!\n)/.test(text) ? "\r\n" : "\n";
}
