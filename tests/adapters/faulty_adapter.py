"""`python_adapter`, misbehaving in the way that its argument names, each time it is asked for `eligible`."""

import json
import sys

from python_adapter import answer_to

ASKED = '"op":"eligible"'


def main(fault: str) -> None:
    for line in sys.stdin:
        answer = answer_to(line)
        if '"op":"hello"' in line:
            greet(fault, answer)
        elif ASKED in line:
            misbehave(fault, answer)
        else:
            say(answer)


def greet(fault: str, answer: str) -> None:
    match fault:
        case "ends-before-hello":
            sys.exit("no licence found")
        case "other-version":
            say(answer.replace('"protocol": 1', '"protocol": 2'))
        case "unsupported-hello":
            say('{"id": 1, "unsupported": "not to strangers"}')
        case "chatty":
            say("listening")
        case "nameless":
            say('{"id": 1, "result": {"protocol": 1}}')
        case _:
            say(answer)


def misbehave(fault: str, answer: str) -> None:
    known = json.loads(answer)
    written = {
        "writes-garbage": "\x1b[2Jdebug: 'eligible'\u202e" + "x" * 500,
        "writes-no-object": "[true]",
        "writes-two-members": json.dumps({**known, "error": "and yet"}),
        "writes-a-name-twice": answer.replace('"eligible":', '"eligible": true, "eligible":'),
        "answers-another": json.dumps({**known, "id": 1}),
        "answers-twice": f"{answer}\n{answer}",
        "wrong-shape": json.dumps({**known, "result": {"eligible": "yes"}}),
        "fails": json.dumps({"id": known["id"], "error": "division\nby zero"}),
        "declines": json.dumps({"id": known["id"], "unsupported": "no clock"}),
        "wrong": answer.replace("true", "false"),
    }
    if fault == "ends":
        print("out of \x1b[31mcheese", file=sys.stderr)
        sys.exit(7)
    if fault == "writes-bad-utf-8":
        sys.stdout.buffer.write(b'{"id": \xff}\n')
        sys.stdout.flush()
    elif fault == "writes-without-end":
        while True:
            sys.stdout.write("x" * 65536)
    else:
        say(written.get(fault, answer))


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
