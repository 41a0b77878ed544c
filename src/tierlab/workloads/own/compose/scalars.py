"""What a compose file's words and numbers are, as Docker reads them: by the rules of YAML 1.2.

PyYAML's are those of 1.1, to which `yes` and `off` are true and false, and `2222:22` is a number of
base 60.
"""

from __future__ import annotations

import re

import yaml

TAG = "tag:yaml.org,2002:"
_OF_1_1 = {f"{TAG}{name}" for name in ("bool", "int", "float", "timestamp", "value")}


class Loader(yaml.SafeLoader):
    """PyYAML's, with nothing made of what Docker leaves a text."""

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [each for each in listed if each[0] not in _OF_1_1]
        for first, listed in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


Loader.add_implicit_resolver(
    f"{TAG}bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
Loader.add_implicit_resolver(
    f"{TAG}float",
    re.compile(
        r"""(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?
        |[-+]?\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$""",
        re.X,
    ),
    list("-+0123456789."),
)
Loader.add_implicit_resolver(
    f"{TAG}int",
    re.compile(r"[-+]?(?:0b[01][01_]*|0x[0-9a-fA-F][0-9a-fA-F_]*|0[0-7_]*|[1-9][0-9_]*)$"),
    list("-+0123456789"),
)
