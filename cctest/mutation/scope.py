"""Of which modules mutants are generated, and who judges those of each.

The core, as far as it decides what a rule is about, and of our gateway what turns a request, and what is seen
of it, into terms, partitions and words. Left out is:

- what only says where in a text something stands and in which words it is told (`positions`, `source`,
  `document_order`, `schema`, and functions named below), and what reads our own data files (`strict_yaml`);
- shortcuts: `quick_json`, and the quick reader of intents. They hand over whatever they doubt, so that most
  changes of theirs cost time and nothing else. That they agree with the close readers is for the core's own
  tests; rules that they could break by themselves are inverted in the catalogue;
- where in a prompt the text of fragments ends, and whether an engine has regions (`boundaries`, `boundary`,
  `region_check`): the engine compares with the tokens that it gets, so that a wrong answer costs reuse and
  lets nothing out;
- who a caller is and how much a caller may (`callers/`), how bodies are changed in place (`respelling`,
  `jsontext`, `stripped`), in which order a template renders (`rendering/`, `orders`), and the cache itself
  (`cctest.engine`). They decide, too: the catalogue inverts rules that they could break, but no operator has
  gone over them.
"""

from collections.abc import Mapping
from typing import Final

from cctest.mutation.mutant import Judge, Setup

_VECTORS: Final = Setup(Judge.VECTORS)
_EMBEDDED: Final = Setup(Judge.EMBEDDED)
_FORWARDING: Final = Setup(Judge.FORWARDING)
_REJECT: Final = "--on-unenforceable=reject"
_REJECTING: Final = Setup(Judge.FORWARDING, (_REJECT,))
_EMBEDDED_REJECTING: Final = Setup(Judge.EMBEDDED, (_REJECT,))
_ENGINE_DEFAULT: Final = Setup(Judge.FORWARDING, ("--without-intent=engine-default",))
_GENERATIONS: Final = Setup(
    Judge.FORWARDING, ("--max-age=generations", "--engine-deadline=0.5", "--abort-margin=0.3")
)
_REGIONS: Final = Setup(Judge.FORWARDING, regions=True)
_NO_APPROXIMATE: Final = "--approximate=unenforceable"

_CORE: Final = (_VECTORS, _EMBEDDED)
_GATEWAY: Final = (_EMBEDDED, _FORWARDING)

SCOPE: Final[Mapping[str, tuple[Setup, ...]]] = {
    **{
        f"cctest/contract/{name}.py": _CORE
        for name in (
            "composition",
            "digest",
            "eligibility",
            "sharing",
            "hints",
            "intent",
            "capabilities",
            "status",
            "shape",
            "documents",
            "assembly",
            "encoding",
            "strict_json",
        )
    },
    "cctest/contract/vocabulary.py": (*_CORE, _REJECTING),
    "reference_gateway/plan.py": (*_GATEWAY, _EMBEDDED_REJECTING, _ENGINE_DEFAULT, _REGIONS),
    "reference_gateway/enforceability.py": (*_GATEWAY, _REJECTING, _EMBEDDED_REJECTING),
    "reference_gateway/status.py": _GATEWAY,
    "reference_gateway/refusal.py": _GATEWAY,
    "reference_gateway/request/intake.py": _GATEWAY,
    "reference_gateway/request/misplaced.py": _GATEWAY,
    "reference_gateway/request/model_visible.py": (*_GATEWAY, _REGIONS),
    "reference_gateway/in_process/embedded.py": (_EMBEDDED,),
    "reference_gateway/approximate.py": (
        Setup(Judge.FORWARDING, (_NO_APPROXIMATE,)),
        Setup(Judge.FORWARDING, (_NO_APPROXIMATE, _REJECT)),
    ),
    "reference_gateway/lowering/lowering.py": (_FORWARDING, _GENERATIONS, _ENGINE_DEFAULT),
    "reference_gateway/lowering/salt.py": (_FORWARDING, _REGIONS),
    "reference_gateway/lowering/generations.py": (_GENERATIONS,),
    "reference_gateway/lowering/regions.py": (_REGIONS,),
    "reference_gateway/engine/usage.py": (_FORWARDING,),
    "reference_gateway/engine/region_usage.py": (_REGIONS,),
    "reference_gateway/engine/forwarding.py": (_FORWARDING, _REGIONS),
}
"""By file, relative to the packages: what is tried in turn until something kills the mutant."""

LEFT_OUT: Final = frozenset(
    {
        # words and places
        "cctest/contract/strict_json.py:_Scanner._no_value",
        "cctest/contract/strict_json.py:_Scanner._seen",
        "cctest/contract/strict_json.py:_Scanner._refusal",
        "cctest/contract/strict_json.py:_bad_character",
        "cctest/contract/assembly.py:Assembly.__init__",
        "cctest/contract/assembly.py:Assembly.container_pointer",
        "cctest/contract/assembly.py:Assembly.refusal",
        "cctest/contract/documents.py:check_document",
        "cctest/contract/shape.py:shown",
        "cctest/contract/shape.py:listed",
        "reference_gateway/refusal.py:RefusalError.headers",
        "reference_gateway/refusal.py:RefusalError.body",
        "reference_gateway/refusal.py:code_of",
        # shortcuts
        "cctest/contract/intent.py:_plain_intent",
        "cctest/contract/intent.py:_plain_constraints",
        "cctest/contract/intent.py:_constraints_of",
        "cctest/contract/shape.py:is_label",
        "cctest/contract/strict_json.py:loads",
    }
)
"""Functions of which no mutants are made."""
