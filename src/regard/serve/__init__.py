"""Translation over HTTP: the interfaces of LibreTranslate and DeepL, our own, and a web page."""
