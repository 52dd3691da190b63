"""What is known of HTML's tags and attributes: which end a text, which stay as they are, which people read."""

from __future__ import annotations

from collections.abc import Mapping


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


VOID = _names("area base br col embed hr img input link meta param source track wbr")
# Tags that end a text. Every other tag stands inside one, as browsers have it for tags that they do not know.
BLOCK = _names(
    "address article aside audio base blockquote body button canvas caption center col colgroup datalist dd details "
    "dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup "
    "hr html iframe legend li link main map menu meta nav noembed noframes noscript object ol optgroup option p pre "
    "search section select summary table tbody td template tfoot th thead title tr ul video xmp"
)
OPAQUE = _names("code iframe kbd math noembed noframes plaintext pre samp script style svg textarea tt var xmp")
WORDLESS = _names("iframe noembed noframes plaintext script style textarea xmp")  # opaque, not in a sentence
RAW = _names("iframe noembed noframes noscript plaintext script style textarea title xmp")  # without tags inside
FOREIGN = _names("svg math")  # `<svg/>` is empty in HTML too
SEPARATE = _names("a label")  # several in a row are texts of their own

# Attributes that people read; of <meta>, what it names; of <input>, the value of a button.
READ = _names(
    "abbr alt aria-braillelabel aria-description aria-label aria-placeholder aria-roledescription aria-valuetext label "
    "placeholder summary title"
)
META = _names(
    "description keywords dcterms.abstract og:title og:description og:image:alt og:site_name twitter:title "
    "twitter:description twitter:image:alt apple-mobile-web-app-title application-name"
)
BUTTONS = _names("button submit reset")


def is_read(name: str, attribute: str, attributes: Mapping[str, str]) -> bool:
    """Whether people read this attribute of this tag."""
    if name == "meta":
        return attribute == "content" and (attributes.get("name") or attributes.get("property") or "").lower() in META
    if attribute == "value":
        return name == "input" and attributes.get("type", "").lower() in BUTTONS
    return attribute in READ


def is_kept(attributes: Mapping[str, str]) -> bool:
    """Whether the author asks for no translation of what the tag holds."""
    return attributes.get("translate", "").lower() == "no" or "notranslate" in attributes.get("class", "").split()
