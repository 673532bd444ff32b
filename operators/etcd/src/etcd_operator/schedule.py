"""The pattern that a cron schedule must match, so that the API server refuses a bad one when it is written."""

MINUTE, HOUR, DAY = "[0-5]?[0-9]", "(?:[01]?[0-9]|2[0-3])", "(?:0?[1-9]|[12][0-9]|3[01])"
MONTH = "(?:0?[1-9]|1[0-2]|[jJ][aA][nN]|[fF][eE][bB]|[mM][aA][rR]|[aA][pP][rR]|[mM][aA][yY]|[jJ][uU][nN]|[jJ][uU][lL]"
MONTH += "|[aA][uU][gG]|[sS][eE][pP]|[oO][cC][tT]|[nN][oO][vV]|[dD][eE][cC])"
WEEKDAY = "(?:[0-6]|[sS][uU][nN]|[mM][oO][nN]|[tT][uU][eE]|[wW][eE][dD]|[tT][hH][uU]|[fF][rR][iI]|[sS][aA][tT])"


def _field(value: str) -> str:
    one = f"(?:[*]|{value}(?:-{value})?)(?:/[1-9][0-9]?)?"
    return f"{one}(?:,{one})*"


SCHEDULE = "^(?:@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)|{})$".format(
    " +".join(_field(each) for each in (MINUTE, HOUR, DAY, MONTH, WEEKDAY))
)
