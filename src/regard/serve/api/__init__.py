"""The HTTP interfaces: LibreTranslate's, DeepL's (v2) and our own (/api)."""
