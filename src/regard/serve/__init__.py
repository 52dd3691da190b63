"""Translation over HTTP: the APIs of LibreTranslate and DeepL, our own API, and a web page."""
