"""`$(NAME)` in a container's command, arguments and variables: what Kubernetes puts in its place."""

from collections.abc import Mapping


def expand(text: str, variables: Mapping[str, str]) -> str:
    """`text` with each `$(NAME)` replaced by its value. `$$` is a dollar; a name that is not known stays as written."""
    parts: list[str] = []
    position = 0
    while (dollar := text.find("$", position)) >= 0:
        parts.append(text[position:dollar])
        after = text[dollar + 1 : dollar + 2]
        end = text.find(")", dollar) if after == "(" else -1
        if after == "$":
            parts.append("$")
            position = dollar + 2
        elif end >= 0:
            written = text[dollar : end + 1]
            parts.append(variables.get(written[2:-1], written))
            position = end + 1
        else:
            parts.append("$")
            position = dollar + 1
    return "".join(parts) + text[position:]
