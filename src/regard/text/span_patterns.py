"""Regular expressions of the protected spans, in the order in which the scan tries them (`protected_spans.py`).

Repetitions are possessive or bounded, so that the time is linear in the length of the text. Punctuation and closing
brackets after an address belong to the sentence, unless the bracket was opened within the address. In "20th" and
"1950s" the number is the digits; "May 3, 1998" has two numbers. An emoji is a whole sequence: skin tones, flags,
keycaps and joined ones; a run of emoji without a space is one span.
"""

from __future__ import annotations

# Web and mail addresses, paths, @names and #tags
_LETTER = r"\p{Latin}\p{Greek}\p{Cyrillic}\p{Arabic}\p{Hebrew}\p{M}\p{N}"
_URL_CHAR = rf"[{_LETTER}_/%&=~#@+$*-]"
_URL_TAIL = rf"(?:{_URL_CHAR}++|\([^\s()<>]*+\)|\{{[^\s{{}}]*+\}}|[.,;:!?'’()\[\]]++(?={_URL_CHAR}))*+"

_LABEL = r"[\p{Latin}\p{Greek}\p{Cyrillic}\p{N}](?:[\p{Latin}\p{Greek}\p{Cyrillic}\p{N}-]{0,61}+(?<!-))?+"
_HOST = rf"{_LABEL}(?:\.{_LABEL}){{1,12}}+"
# Endings that a bare domain needs. Those that are words (it, me, in, so, no, be, at, us, is) are left out: "home.it"
# is probably two sentences without a space between them.
_TLDS = (
    r"com|org|net|edu|gov|mil|int|info|biz|name|io|dev|app|ai|cloud|online|site|shop|blog|wiki|xyz|tech|example|test|"
    r"local|localhost|invalid|uk|eu|de|fr|es|ch|nl|se|fi|dk|pl|pt|ru|cn|jp|kr|br|au|ca|cz|gr|hu|ie|il|mx|nz|ro|sk|tr|"
    r"ua|za|ar|cl|lu|tv"
)
URL = (
    rf"(?<![\w@])(?:(?:[A-Za-z][A-Za-z0-9+.-]{{1,20}}+://|www\.(?=[\p{{L}}\p{{N}}]))(?={_URL_CHAR}|[\[{{]){_URL_TAIL}"
    rf"|(?<![./-]){_HOST}(?:(?<=\.(?:{_TLDS}))(?![\w-]|\.\w)(?::\d{{1,5}}+)?+(?:[/?#]{_URL_TAIL})?+"
    rf"|(?<=\.[a-z]{{2,12}})(?::\d{{1,5}}+)?+/{_URL_TAIL}))"
)

EMAIL = r"(?:(?<!\w)mailto:)?+(?<![\w.+%-])[\w.+%-]{1,64}+@(?=\p{L})[\w-]++(?:\.[\w-]++)*+(?!@)"

_FILE_EXTENSIONS = (
    r"7z|apk|avi|bak|bash|bat|bib|bin|bmp|bz2|cfg|cmd|conf|cpp|css|csv|dat|db|deb|dll|dmg|doc|docx|eot|epub|exe|flac|"
    r"gif|gz|hpp|htm|html|ico|img|ini|ipynb|iso|jar|java|jpeg|jpg|js|json|jsonl|jsx|kt|lock|log|lua|md|mkv|mov|mp3|mp4|"
    r"mpeg|mpg|msi|odp|ods|odt|ogg|otf|pdf|php|pkl|png|po|pot|ppt|pptx|ps1|psd|pt|py|rar|rb|rpm|rs|rst|rtf|scss|sh|"
    r"sql|sqlite|srt|svg|swift|tar|tex|tgz|tif|tiff|tmp|toml|ts|tsv|tsx|ttf|txt|vtt|vue|wav|webm|webp|whl|wma|wmv|woff|"
    r"woff2|xls|xlsx|xml|xz|yaml|yml|zip"
)
_DOTFILES = (
    r"bashrc|config|dockerignore|editorconfig|env|git|gitconfig|gitignore|htaccess|npmrc|profile|ssh|vimrc|zshrc"
)
WINDOWS_PATH = r"(?<![\w\\])(?:[A-Za-z]:|\\)\\(?:[\w.@%+~()-]++\\)*+(?:[\w@%+~-]++|[.()]++(?=\w))*+"  # C:\Users\x
UNIX_PATH = (
    r"(?<![\w/.\\<>)])(?:(?:~|\.{1,2})?+/(?![/\s])(?:[\w@%+~-]++|[./]++(?=[\w@%+~-])|/(?!/))++"  # /usr  ~/x  ./a/b.txt
    rf"|\.(?:{_DOTFILES})(?!\w))"
)
FILE_NAME = (
    r"(?<![\w./\\-])(?=[\w-]{1,100}+[./])(?:"
    r"(?:[\w-]++(?:\.[\w-]++)*+/){1,30}+[\w-]++(?:\.[\w-]++)*+(?<=\.[a-z][a-z0-9]{0,4})(?![\w/])"  # src/a.py
    rf"|[\w-]++(?:\.[\w-]++){{1,8}}+(?<=\.(?:{_FILE_EXTENSIONS}|{_FILE_EXTENSIONS.upper()}))(?![\w-]))"  # report.pdf
)

# Placeholders, inline markup and program code
_ATTRIBUTE = r"\s++[\w:.@-]++\s*+=\s*+(?:\"[^\"<]*+\"|'[^'<]*+'|[^\s\"'<>=/]++)"
PLACEHOLDER = (
    r"(?=\{)(?:\{\{\{?[^{}\n]{0,200}+\}\}\}?|\{%[^{}\n%]{1,200}+%\}|\{[^{}\s]{0,200}+\}|\{ [\w.]{1,60} \})"  # {x}
    r"|[$#%@]\{[^{}\s]{0,200}+\}|\$\([^()\n]{1,200}+\)|(?<!\w)\$[A-Za-z_]\w*+"  # ${x}  $(x)  $VAR
    r"|(?=%)(?:%[A-Za-z_]\w{1,60}+%"  # %VAR%
    r"|%\([^()\n]{1,100}+\)[-+#0]*+\d*+(?:\.\d++)?+[a-zA-Z]"  # %(x)d
    r"|(?<![\d%])(?:"
    r"%(?:\d{1,3}\$)?[-+#0]{0,4}(?:\d{1,4}|\*)?(?:\.(?:\d{1,4}|\*))?(?:hh|h|ll|l|L|z|j|t|q)?[diouxXeEfFgGcrsp@]"  # %1$s
    r"|%L?\d{1,2}(?![\d%])|%%|%n(?!\w)))"  # %1  %%
    rf"|(?=<)(?:</?[A-Za-z][\w:.-]*+(?:{_ATTRIBUTE})*+\s*+/?>|<%[^<>\n%]{{1,200}}+%>|<!--(?:[^-<]|-(?!->)){{0,2000}}+-->)"
    r"|&(?:[A-Za-z][A-Za-z0-9]{1,31}+|#\d{1,7}+|#[xX][0-9a-fA-F]{1,6}+);"  # &nbsp;
    r"|\[(?:\[[^\[\]\n]{1,200}+\]\]|\d{1,4}\]|/?(?:b|i|u|s|url|img|quote|code|color|size)(?:=[^\[\]\n]{1,200}+)?\])"
    r"|\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[nrt\"'\\0])"  # \n as it is written in message catalogues
)

_NAME = r"[A-Za-z_][A-Za-z0-9_]*+"
_DOTTED_NAME = rf"{_NAME}(?:(?:\.|::|->){_NAME})*+"
_HEX = r"[0-9a-fA-F]"
_LOOKS_LIKE_CODE = r"(?<=[A-Za-z0-9]_\w{0,60}|[a-z][A-Z]\w{0,60}|\.\w{1,60})"  # a_b  aB  a.b
ID = (
    r"(?<![\w.-])(?:"
    rf"{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}(?![\w-])"  # UUID
    rf"|(?:{_HEX}{{2}}:){{5}}{_HEX}{{2}}(?![\w:])|0[xX]{_HEX}++(?!\w)"  # MAC address  0xff
    r"|(?=[a-f]{0,64}\d)(?=\d{0,64}[a-f])[0-9a-f]{7,64}+(?![\w-])"  # a hash
    r"|\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5}|/\d{1,2})?(?!\w|\.\d)"  # 192.168.0.1:80
    r"|[vV]\d++(?:\.\d++)*+(?:[-+][\w.]{0,20}\w)?(?!\w)"  # v2.0.1-rc1
    r"|(?<!,)\d++\.\d++\.\d++(?:\.\d++)*+(?:[-+]?(?:rc|alpha|beta|dev|post|a|b)[.\d]{0,8}\d)?(?!\w)"  # 2.0.1
    r")"
)
IDENTIFIER = (
    r"(?<![\w.-])(?:"
    rf"{_DOTTED_NAME}(?:\(\)|(?=\(){_LOOKS_LIKE_CODE}\([^()\n]{{1,80}}+\))"  # foo.bar()  my_call(x, 1)
    r"|__[A-Za-z0-9]++(?:_[A-Za-z0-9]++)*+(?:__)?(?!\w)|[A-Za-z][A-Za-z0-9]*+(?:_++[A-Za-z0-9]++)++_*+(?!\w)"  # a_b
    rf"|{_NAME}(?:(?:::|->){_NAME})++|[a-z]\w++(?:\.[A-Za-z]\w++){{2,10}}+(?!\w)"  # a::b  os.path.join
    r")"
)

# Emoji, emoticons and symbols
_EMOJI = (
    r"(?:\p{Regional_Indicator}{2}|[0-9#*]\uFE0F?\u20E3"
    r"|\p{Extended_Pictographic}[\uFE0E\uFE0F\u20E3\U0001F3FB-\U0001F3FF\U000E0020-\U000E007F]*+"
    r"(?:\u200D(?:\p{Extended_Pictographic}|[\u2640\u2642])[\uFE0E\uFE0F\U0001F3FB-\U0001F3FF]*+)*+)"
)
_EMOTICON = (
    r"(?:>?[:;=][-'^o]?(?:[()\[\]DPpOo3*|\\/]|\$)|8-[()DPp]|[xX]D|<3+|</3|\^_?\^|-_-|[oO]_[oO]|T_T|[(;]-?[:;]"
    r"|¯\\_\(ツ\)_/¯|\\o/|[Dd]:)"
)
EMOJI = rf"{_EMOJI}++"
EMOTICON = (
    rf"(?<![^\s\p{{P}}\p{{So}}]|[:\[(<\\/]){_EMOTICON}(?![\w/\\:()])"  # :) ;-) <3
    r"|(?<![\w:]):(?=[^:\s]{0,40}[a-z])[a-z0-9_+-]{2,40}+:(?![\w:])"  # :smile:
)

# Private use (a model's own marks among them), control characters, marks of direction, halves of characters
_INVISIBLE = r"[\p{Co}\p{Cs}\u200E\u200F\u202A-\u202E\u2066-\u2069[\p{Cc}--\s]]"
_SYMBOLS = r"[[\p{So}\p{Sm}\xA9\xAE]--[\x00-\xA8\xAA-\xAD\xAF-\xB1×÷\uFFFC]]"  # → ★ ≤ ©, not + < = ° ±
_ASTRAL = r"[[\U00010000-\U0010FFFF]--\p{Extended_Pictographic}--\p{Regional_Indicator}--\p{Co}]"  # 𝕏
SYMBOL = rf"{_INVISIBLE}++|{_SYMBOLS}++|{_ASTRAL}++"
SYMBOL_STARTS = rf"{_INVISIBLE}|{_SYMBOLS}|{_ASTRAL}"

# Words in other scripts than SCRIPTS, which the scan replaces, with marks of direction, and what is between such words.
# µ, and letters that look like Latin ones, make a whole word foreign: µm, kΩ, iPhоne with a Cyrillic о.
_DIRECTION = r"[\u200E\u200F\u202A-\u202E\u2066-\u2069]"
FOREIGN = r"[[\p{L}--\p{Common}--[SCRIPTS]][µ--[SCRIPTS]]]"
_MIXED_START = rf"[\p{{Latin}}\p{{M}}]*+[{FOREIGN}&&\p{{LC}}]"
_FOREIGN_WORD = rf"(?:{_MIXED_START}[\p{{L}}\p{{M}}\p{{N}}]*+|{FOREIGN}[{FOREIGN}\p{{M}}\p{{Lm}}\p{{N}}\u200C\u200D]*+)"
_BETWEEN_FOREIGN = r"[\p{P}\p{Zs}\p{N}\p{Cf}\p{M}]{0,20}+"
SCRIPT = rf"{_DIRECTION}*+{_FOREIGN_WORD}(?:{_BETWEEN_FOREIGN}{_FOREIGN_WORD})*+{_DIRECTION}*+"
SCRIPT_STARTS = rf"(?<![\p{{L}}\p{{M}}_]){_MIXED_START}|{FOREIGN}"

# Numbers, dates, times, amounts and phone numbers
_NO_BREAK = r"[\u00A0\u2007\u2009\u202F]|&(?:nbsp|thinsp|#160|#[xX][aA]0);"
SPACE = rf"(?:[ ]|{_NO_BREAK})"  # between groups of digits or before a sign
_NOT_IN_WORD = r"(?<![\p{Latin}\p{Greek}\p{Cyrillic}\p{M}\p{N}_])"  # Chinese and Japanese write numbers within words
_FRACTION = r"[\u00BC-\u00BE\u2150-\u215E\u2189]"  # ¼ ½ ¾ ⅐ …
NUMBER_STARTS = r"[\d+−±\u00BC-\u00BE\u2150-\u215E\u2189-]"  # first characters of a number
_SIGN = r"(?:(?<![\w)\]])[-−+±])?+"

# 1,250.5  1.250,5  3.14  1/2  3:1  1939–1945  1920x1080  978-3-16-148410-0: digits joined by one sign without a space
_HYPHEN = r"\u2010\u2011-"  # also the one at which no line breaks
_JOINED = rf"\d++(?:[.,:/'’–×x{_HYPHEN}]\d++)*+"
_SPACED = rf"\d{{1,3}}+(?:{SPACE}\d{{3}}(?!\d))++(?:[.,]\d++)?+"  # 1 250,5
DIGITS = (
    rf"(?:(?:{_SPACED}|{_JOINED})(?:{_FRACTION}|[eE][-+−]?\d++(?![\p{{L}}\p{{N}}])|×10[⁻⁺]?[⁰¹²³⁴-⁹]++)?+|{_FRACTION})"
)

_DAY, _MONTH, _YEAR = r"(?:3[01]|[12]\d|0?[1-9])", r"(?:1[0-2]|0?[1-9])", r"(?:1\d|20|21)\d\d"
_CLOCK = r"(?:2[0-4]|[01]?\d):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9}+)?+)?+"
_DAY_MONTH = rf"(?:{_DAY}(?P<separator>[./-]){_MONTH}|{_MONTH}(?P<separator>[./-]){_DAY})(?P=separator)(?:{_YEAR}|\d\d)"
_YEAR_FIRST = rf"{_YEAR}(?P<between>[./-]){_MONTH}(?P=between){_DAY}"
_ZONE = r"(?:Z|[-+]\d\d:?\d\d)"
DATE = rf"{_NOT_IN_WORD}(?:{_YEAR_FIRST}(?:T{_CLOCK}{_ZONE}?+)?+|{_DAY_MONTH})(?![\d/]|\.\d|-(?!\d{{1,4}}[./-])\d)"

_AM_PM = r"(?:[AaPp]\.[Mm]\.|[AaPp][Mm](?![\p{L}\p{N}]))"
TIME = (
    # 3:45  14:30:05  3:45 pm  3:45</b> pm
    rf"{_NOT_IN_WORD}(?:{_CLOCK}(?![\d:])(?:(?:</[a-z]{{1,9}}+>)?+{SPACE}?+{_AM_PM})?+"
    rf"|(?:1[0-2]|0?[1-9])(?:\.[0-5]\d)?+{SPACE}?+{_AM_PM}"  # 5 p.m.  6.30 pm
    rf"|(?:2[0-4]|[01]?\d)\.[0-5]\d(?={SPACE}?+Uhr)"  # 15.45 of "15.45 Uhr", whose word is the model's
    rf"|(?:2[0-4]|[01]?\d){SPACE}?+[hH]{SPACE}?+[0-5]\d(?![\p{{L}}\p{{N}}])"  # 15h45  15 h 45
    rf"|(?:2[0-4]|[01]?\d)h(?![\p{{L}}\p{{N}}]))"  # 15h
)

CURRENCY = r"\p{Sc}"
_CODE = r"(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|NZD|CNY|INR|RUB|BRL|MXN|SEK|NOK|DKK|PLN|CZK|HUF|TRY|ZAR|KRW|BTC)"
_SCALE = r"(?:(?:bn|tn|[kKMmB])(?![\p{L}\p{N}]))?+"  # $5k, €2bn
AMOUNT_AFTER_SIGN = (  # $5  CHF 20
    rf"{_SIGN}(?:(?<![\p{{L}}\p{{N}}])(?:US|A|C|NZ|HK|R)?+{CURRENCY}|{_NOT_IN_WORD}{_CODE}){SPACE}?+[-−]?{DIGITS}{_SCALE}"
)
AMOUNT_BEFORE_SIGN = (  # 5 $  20 EUR
    rf"{_NOT_IN_WORD}{_SIGN}{DIGITS}(?:{_SCALE}{SPACE}?+{CURRENCY}(?![\p{{L}}\p{{N}}])|{SPACE}{_CODE}(?![\p{{L}}\p{{N}}]))"
)

_DASH = rf"[.{_HYPHEN}]|{SPACE}"
_GAP = rf"(?:{SPACE}?[/{_HYPHEN}]{SPACE}?|[.]|&#8209;|{SPACE})"  # between the groups of a phone number
_THOUSANDS = rf"(?:{_YEAR}{SPACE})?{_SPACED}(?!{SPACE}?\d)"  # "en 2020 10 000 000": two numbers
PHONE = (
    # +33 1 23 45 67 89  +44 (0)20 7946 0958
    rf"(?<![\w+])\+\d{{1,3}}(?:{_GAP}?+\(\d{{1,4}}\)\d{{0,4}})?+(?:{_GAP}?\d{{2,4}}|{_GAP}\d(?!\d)){{2,8}}(?!\d|-\d)"
    # (555) 123-4567  (030) 90 18 20
    rf"|(?<!\w)\(\d{{2,5}}\)(?=(?:{_GAP}?\d){{6,10}}(?!\d)){_GAP}?\d{{2,8}}(?:{_GAP}\d{{2,4}}){{0,4}}(?!\d|-\d)"
    # 555-123-4567  1 800 555 0199
    rf"|{_NOT_IN_WORD}(?:(?:1(?:{_DASH}))?\d{{3}}(?P<dash>{_DASH})\d{{3}}(?P=dash)\d{{4}}(?![\w-])"
    rf"|\d{{3}}[{_HYPHEN}]\d{{4}}(?![\w-])"  # 555-0199
    # 01 23 45 67 89  030/901820
    rf"|(?=0(?:{_GAP}?\d){{6,13}}(?!\d))0(?:\d{{1,4}}|(?={SPACE}))(?:{_GAP}\d{{2,8}}){{1,6}}(?!\d)"
    rf"|(?!{_THOUSANDS})\d{{2,4}}(?:{SPACE}\d{{2,4}}){{3,9}}(?!\d)"  # 612 34 56 78  4111 1111 1111 1111
    rf"|\d\d(?:{SPACE}\d\d){{2}}(?!\d)|\d{{4}}{SPACE}\d{{6}}{SPACE}\d{{5}}(?!\d))"  # 12 34 56  3782 822463 10005
)
IBAN = (  # FR76 3000 6000 0112 3456 7890 189
    rf"{_NOT_IN_WORD}[A-Z]{{2}}\d\d{SPACE}?[A-Z0-9]{{4}}(?:{SPACE}?[A-Z0-9]{{3}}\d){{2,7}}"
    rf"(?:{SPACE}?[A-Z0-9]{{0,2}}\d)?(?!\w)"
)

PERCENT = rf"(?:[%‰]|{SPACE}[%‰](?![\w(@{{%]))"  # not the "%s" of "5 %s"
NUMBER = (
    rf"{_NOT_IN_WORD}(?:\d{{1,2}}+['’′]{SPACE}?\d{{1,2}}+(?:[\"”″]|'')"  # 5'10"
    rf"|{_SIGN}{DIGITS}(?:{PERCENT}|{SPACE}?+°(?:[CF](?!\p{{L}}))?+)?+)"
)

# What joins two of these to one span: a space at which no line breaks, a hyphen, a slash, a sign of a range or a size.
# $5 – $10  9:00-17:00  12 × 30  3 m × 4 m  3.–5. Mai
NUMERIC = frozenset(("number", "date", "time", "amount", "phone"))
JOINT = (
    rf"(?:{_NO_BREAK})(?=\d)|{SPACE}?(?:[/–−{_HYPHEN}]|&(?:ndash|#8209);){SPACE}?|\.[–-]"
    rf"|(?:{SPACE}?[cdkm]?m)?(?:{SPACE}?×{SPACE}?|{SPACE}x{SPACE})"
)

# Names with digits: A380  GPT-4o  3D  C++
_WORD_START, _WORD_END = r"(?<![\p{L}\p{M}\p{N}_])", r"(?![\p{L}\p{M}\p{N}_])"
NAME_WITH_DIGITS = (
    rf"{_WORD_START}(?:\p{{Lu}}\p{{L}}{{0,20}}+\p{{N}}{{1,9}}+(?:-?+[\p{{L}}\p{{N}}]{{1,20}}+)*+"  # A380 MP3 R2-D2
    rf"|\p{{Lu}}{{1,8}}+-\p{{N}}{{1,9}}+[\p{{L}}\p{{N}}]{{0,9}}+(?:-[\p{{L}}\p{{N}}]{{1,20}}+)*+"  # GPT-4o F-16
    rf"|\d{{1,5}}\p{{Lu}}{{1,4}}+\d{{0,5}}+){_WORD_END}"  # 3D 221B 6XE
    rf"|{_WORD_START}(?:C\+\+|[CF]\#(?!\w))|(?<!\w)\.NET{_WORD_END}"
)

# (kind, the characters with which a match begins, pattern), in the order in which they are tried
PATTERNS = (
    ("object", r"\uFFFC", r"\uFFFC"),
    ("url", r"[\p{L}\p{N}]", URL),
    ("email", r"\w", EMAIL),
    ("email", "@", r"(?<![\w@])@\w{1,60}+@[\w-]++(?:\.[\w-]++)++"),  # @user@server.example
    ("placeholder", r"[{$%<&\[\\#@]", PLACEHOLDER),
    ("emoji", r"[0-9#*\p{Extended_Pictographic}\p{Regional_Indicator}]", EMOJI),
    ("emoji", r"[:;=8>xX<^oOT(\\¯Dd-]", EMOTICON),
    ("path", r"[A-Za-z\\]", WINDOWS_PATH),
    ("path", r"[~./]", UNIX_PATH),
    ("path", r"\w", FILE_NAME),
    ("code", "[A-Z]", IBAN),
    ("date", r"\d", DATE),
    ("phone", r"[\d+(]", PHONE),
    ("time", r"\d", TIME),
    ("amount", r"[\p{Sc}A-Z+−±-]", AMOUNT_AFTER_SIGN),
    ("amount", NUMBER_STARTS, AMOUNT_BEFORE_SIGN),
    ("name", r"[\p{Lu}\d.]", NAME_WITH_DIGITS),
    ("code", "`", r"(?<!`)(?P<ticks>`{1,3}+)(?!`)[^`\n]{1,1000}+(?P=ticks)(?!`)"),  # `code`
    ("code", "-", r"(?<![\w-])(?:--[a-zA-Z][\w-]*+(?:=[^\s,;]*[\w/\"'])?|-[a-z](?![\w'’-]))"),  # --flag=x  -f
    ("code", "#", rf"#(?=[a-fA-F]{{0,7}}\d)(?:{_HEX}{{6}}|{_HEX}{{8}})(?!\w)"),  # #1a2b3c
    ("code", "[0-9a-fA-FvV]", ID),
    ("code", "[A-Za-z_]", IDENTIFIER),
    ("code", r"\p{Ll}", r"(?<![\w.-])\p{Ll}++\d++[\p{Ll}\d]*+(?:-\d++)*+(?![\p{L}\p{N}_])"),  # mp3  x86-64
    ("number", NUMBER_STARTS, NUMBER),
    ("mention", "@", r"(?<![\w@/])@(?=\d*+[\p{L}_])\w++(?:[.-]\w++)*+(?:/\w++(?:[.-]\w++)*+)?+"),
    ("tag", "#", r"(?<![\w&#/])#[\p{L}\p{M}\p{N}_]++"),
    ("script", rf"\p{{L}}|{_DIRECTION}", SCRIPT),
    ("symbol", SYMBOL_STARTS, SYMBOL),
    ("symbol", r"\p{Latin}", r"(?<!\p{L})\p{Latin}{1,3}+[²³](?![\p{L}\p{N}])"),  # m²
)
