"""Web and mail addresses, paths, @names and #tags, as patterns of one scan (`protect.py`).

Punctuation and closing brackets after an address are the sentence's, unless a bracket was opened within the address.
"""

from __future__ import annotations

_LETTER = r"\p{Latin}\p{Greek}\p{Cyrillic}\p{Arabic}\p{Hebrew}\p{M}\p{N}"
_SAFE = rf"[{_LETTER}_/%&=~#@+$*-]"
TAIL = (  # the rest of an address
    rf"(?:{_SAFE}++|\([^\s()<>]*+\)|\{{[^\s{{}}]*+\}}|[.,;:!?'’()\[\]]++(?={_SAFE}))*+"
)

_LABEL = r"[\p{Latin}\p{Greek}\p{Cyrillic}\p{N}](?:[\p{Latin}\p{Greek}\p{Cyrillic}\p{N}-]{0,61}+(?<!-))?+"
_HOST = rf"{_LABEL}(?:\.{_LABEL}){{1,12}}+"
# Endings that a bare domain needs. Those that are words (it, me, in, so, no, be, at, us, is) are left out: "home.it"
# is rather two sentences without a space between them.
_ENDINGS = (
    r"com|org|net|edu|gov|mil|int|info|biz|name|io|dev|app|ai|cloud|online|site|shop|blog|wiki|xyz|tech|example|test|"
    r"local|localhost|invalid|uk|eu|de|fr|es|ch|nl|se|fi|dk|pl|pt|ru|cn|jp|kr|br|au|ca|cz|gr|hu|ie|il|mx|nz|ro|sk|tr|"
    r"ua|za|ar|cl|lu|tv"
)
URL = (
    rf"(?<![\w@])(?:(?:[A-Za-z][A-Za-z0-9+.-]{{1,20}}+://|www\.(?=[\p{{L}}\p{{N}}]))(?={_SAFE}|[\[{{]){TAIL}"
    rf"|(?<![./-]){_HOST}(?:(?<=\.(?:{_ENDINGS}))(?![\w-]|\.\w)(?::\d{{1,5}}+)?+(?:[/?#]{TAIL})?+"
    rf"|(?<=\.[a-z]{{2,12}})(?::\d{{1,5}}+)?+/{TAIL}))"
)

EMAIL = r"(?:(?<!\w)mailto:)?+(?<![\w.+%-])[\w.+%-]{1,64}+@(?=\p{L})[\w-]++(?:\.[\w-]++)*+(?!@)"
SERVER_MENTION = r"(?<![\w@])@\w{1,60}+@[\w-]++(?:\.[\w-]++)++"  # @user@server.example
MENTION = r"(?<![\w@/])@(?=\d*+[\p{L}_])\w++(?:[.-]\w++)*+(?:/\w++(?:[.-]\w++)*+)?+"
TAG = r"(?<![\w&#/])#[\p{L}\p{M}\p{N}_]++"

_SUFFIXES = (
    r"7z|apk|avi|bak|bash|bat|bib|bin|bmp|bz2|cfg|cmd|conf|cpp|css|csv|dat|db|deb|dll|dmg|doc|docx|eot|epub|exe|flac|"
    r"gif|gz|hpp|htm|html|ico|img|ini|ipynb|iso|jar|java|jpeg|jpg|js|json|jsonl|jsx|kt|lock|log|lua|md|mkv|mov|mp3|mp4|"
    r"mpeg|mpg|msi|odp|ods|odt|ogg|otf|pdf|php|pkl|png|po|pot|ppt|pptx|ps1|psd|pt|py|rar|rb|rpm|rs|rst|rtf|scss|sh|"
    r"sql|sqlite|srt|svg|swift|tar|tex|tgz|tif|tiff|tmp|toml|ts|tsv|tsx|ttf|txt|vtt|vue|wav|webm|webp|whl|wma|wmv|woff|"
    r"woff2|xls|xlsx|xml|xz|yaml|yml|zip"
)
_DOTTED = r"bashrc|config|dockerignore|editorconfig|env|git|gitconfig|gitignore|htaccess|npmrc|profile|ssh|vimrc|zshrc"
WINDOWS_PATH = r"(?<![\w\\])(?:[A-Za-z]:|\\)\\(?:[\w.@%+~()-]++\\)*+(?:[\w@%+~-]++|[.()]++(?=\w))*+"  # C:\Users\x
UNIX_PATH = (
    r"(?<![\w/.\\<>)])(?:(?:~|\.{1,2})?+/(?![/\s])(?:[\w@%+~-]++|[./]++(?=[\w@%+~-])|/(?!/))++"  # /usr  ~/x  ./a/b.txt
    rf"|\.(?:{_DOTTED})(?!\w))"
)
FILE_NAME = (
    r"(?<![\w./\\-])(?=[\w-]{1,100}+[./])(?:"
    r"(?:[\w-]++(?:\.[\w-]++)*+/){1,30}+[\w-]++(?:\.[\w-]++)*+(?<=\.[a-z][a-z0-9]{0,4})(?![\w/])"  # src/a.py
    rf"|[\w-]++(?:\.[\w-]++){{1,8}}+(?<=\.(?:{_SUFFIXES}|{_SUFFIXES.upper()}))(?![\w-]))"  # report.pdf
)
