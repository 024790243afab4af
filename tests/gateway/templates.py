"""Chat templates in the shapes that are in use, as Jinja: what a model's repository would hold."""

_TURN = "<|{{ m.role }}|>{{ m.content or '' }}{% for c in m.tool_calls or [] %}<|call|>{{ c.function.name }} {{ c.function.arguments }}{% endfor %}<|end|>"
_TURNS = "{% for m in messages %}" + _TURN + "{% endfor %}"
_TOOLS = "{% for t in tools or [] %}<|tool|>{{ t | tojson }}<|end|>{% endfor %}"
_PROMPT = "{% if add_generation_prompt %}<|assistant|>{% endif %}"

TOOLS_FIRST = _TOOLS + _TURNS + _PROMPT

DATED = "Knowledge cutoff: long ago. Today is {{ strftime_now('%d %B %Y') }}.\n" + _TOOLS + _TURNS + _PROMPT

TOOLS_IN_THE_SYSTEM_TURN = (
    "{% if messages[0].role == 'system' %}<|system|>{{ messages[0].content }}\n" + _TOOLS + "<|end|>"
    "{% set rest = messages[1:] %}{% else %}<|system|>You are helpful.\n" + _TOOLS + "<|end|>"
    "{% set rest = messages %}{% endif %}{% for m in rest %}" + _TURN + "{% endfor %}" + _PROMPT
)

TOOLS_BEFORE_THE_LAST_USER_MESSAGE = (
    "{% for m in messages %}{% if loop.last %}" + _TOOLS + "{% endif %}" + _TURN + "{% endfor %}" + _PROMPT
)

TOOLS_LAST = _TURNS + _TOOLS + _PROMPT

TOOLS_IGNORED = _TURNS + _PROMPT

TOOLS_SORTED = _TOOLS.replace("tools or []", "(tools or []) | sort(attribute='function.name')") + _TURNS

TOOLS_REPEATED_AT_THE_END = _TOOLS + _TURNS + _TOOLS + _PROMPT

SYSTEM_HOISTED = (
    _TOOLS + "{% for m in messages if m.role in ('system', 'developer') %}" + _TURN + "{% endfor %}"
    "{% for m in messages if m.role not in ('system', 'developer') %}" + _TURN + "{% endfor %}" + _PROMPT
)

SYSTEM_MERGED_INTO_THE_FIRST = (
    _TOOLS + "<|system|>{% for m in messages if m.role == 'system' %}{{ m.content }}\n{% endfor %}<|end|>"
    "{% for m in messages if m.role != 'system' %}" + _TURN + "{% endfor %}" + _PROMPT
)

SYSTEM_IN_THE_LAST_USER_MESSAGE = (
    _TOOLS + "{% for m in messages %}{% if m.role == 'system' %}{% elif loop.last %}<|user|>"
    "{% for s in messages if s.role == 'system' %}{{ s.content }}\n{% endfor %}{{ m.content }}<|end|>"
    "{% else %}" + _TURN + "{% endif %}{% endfor %}" + _PROMPT
)

STRICT = (
    "{% for m in messages %}"
    "{% if m.role not in ('system', 'user', 'assistant', 'tool') %}{{ raise_exception('Unknown role') }}{% endif %}"
    "{% if m.role == 'system' and not loop.first %}{{ raise_exception('System must come first') }}{% endif %}"
    "{% endfor %}" + TOOLS_FIRST
)

NO_TEMPLATE_AT_ALL = "{{ raise_exception('there is no chat template') }}"

EARLIER_TURNS_DROPPED = _TOOLS + "{% set m = messages[-1] %}" + _TURN + _PROMPT
