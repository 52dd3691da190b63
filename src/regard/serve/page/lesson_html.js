// The HTML that the server makes of the lessons' Markdown, as nodes.

import { h } from "./dom.js";

const ELEMENTS = "a blockquote br code div em h2 h3 h4 li ol p pre strong table td th thead tr ul".split(" ");

/** Nodes of the HTML that the server makes of the lessons' Markdown; elements that it never writes become their text. */
export function fromHtml(html) {
  return copied(new DOMParser().parseFromString(html, "text/html").body);
}

function copied(parent) {
  return [...parent.childNodes].map((node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    const tag = node.nodeName.toLowerCase();
    if (!ELEMENTS.includes(tag)) return copied(node);
    const href = tag === "a" && /^(https?:\/\/|#\/)/.test(node.getAttribute("href") ?? "") && node.getAttribute("href");
    return h(tag, { href, rel: href && "noopener noreferrer", class: tag === "div" && "wide" }, copied(node));
  });
}
