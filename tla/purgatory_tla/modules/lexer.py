"""Colours for TLA+ in pages and terminals: a lexer for Pygments, which has none of its own."""

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

_KEYWORDS = (
    "ASSUME",
    "CASE",
    "CHOOSE",
    "CONSTANT",
    "CONSTANTS",
    "DOMAIN",
    "ELSE",
    "ENABLED",
    "EXCEPT",
    "EXTENDS",
    "IF",
    "IN",
    "INSTANCE",
    "LAMBDA",
    "LET",
    "LOCAL",
    "MODULE",
    "OTHER",
    "SUBSET",
    "THEN",
    "UNCHANGED",
    "UNION",
    "VARIABLE",
    "VARIABLES",
    "WITH",
)


class TlaLexer(RegexLexer):  # type: ignore[misc]
    """Colours for TLA+; Pygments has none of its own."""

    name = "TLA+"
    aliases = ("tla",)
    filenames = ("*.tla",)
    tokens = {
        "root": [
            (r"\\\*.*$", Comment.Single),
            (r"\(\*", Comment.Multiline, "comment"),
            (r"-{4,}|={4,}", Comment.Special),
            (r'"(?:\\.|[^"\\])*"', String),
            (words(_KEYWORDS, prefix=r"\b", suffix=r"\b"), Keyword),
            (r"\b(?:TRUE|FALSE|BOOLEAN|Nat|Int)\b", Keyword.Constant),
            (r"\b[WS]F_", Keyword),
            (r"\\[A-Za-z]+|/\\|\\/|\[\]|<>|~>|==|=>|<=>|\|->|[#~'=<>+\-*%@]", Operator),
            (r"^[A-Za-z]\w*(?=(?:\([^)]*\))?\s*==(?!=))", Name.Function),
            (r"\d+", Number),
            (r"\w+", Name),
            (r"[{}\[\](),.:!;|&/\\^]", Punctuation),
            (r"\s+", Text),
        ],
        "comment": [
            (r"\(\*", Comment.Multiline, "#push"),
            (r"\*\)", Comment.Multiline, "#pop"),
            (r"[^*(]+|[*(]", Comment.Multiline),
        ],
    }
