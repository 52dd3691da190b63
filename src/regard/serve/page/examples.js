// Something to start with, in the language that the model reads.

import { button, h } from "./dom.js";
import { select } from "./state.js";

const EXAMPLES = {
  en: ["The black cat sleeps on the old sofa.", "I see him every day.", "She paid 24 euros for 3 books."],
  fr: ["Le chat noir dort sur le vieux canapé.", "Je le vois tous les jours."],
  de: ["Die schwarze Katze schläft auf dem alten Sofa.", "Ich sehe ihn jeden Tag."],
  es: ["El gato negro duerme en el viejo sofá.", "Lo veo todos los días."],
};

export const examplesOf = (language) => EXAMPLES[language] ?? [];

export function examples(language) {
  const texts = examplesOf(language);
  if (!texts.length) return null;
  const pick = (text) => button(text, () => select({ text }), { class: "plain example" });
  return h("div", { class: "examples" }, h("p", { class: "small quiet" }, "For example"), texts.map(pick));
}
