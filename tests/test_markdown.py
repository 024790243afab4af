from cctest.markdown import Block, json_blocks


def test_only_json_blocks_are_found() -> None:
    text = "# Title\n\n```json\n{}\n```\n\n```yaml\na: 1\n```\n\n~~~JSON title\n[1]\n~~~\n\n```\n{}\n```\n"
    assert list(json_blocks(text)) == [Block("{}", 4, 0, "# Title"), Block("[1]", 12, 0, "```")]


def test_a_fence_inside_a_list_or_quote_counts() -> None:
    assert list(json_blocks("- item\n\n  ```json\n  {\n    1\n  }\n  ```\n")) == [
        Block("{\n  1\n}", 4, 2, "- item")
    ]
    assert list(json_blocks("> ```json\n> {}\n> ```\n")) == [Block("{}", 2, 2)]


def test_a_longer_fence_holds_a_shorter_one() -> None:
    assert list(json_blocks("````json\n```\n````\n```json\n1\n```")) == [
        Block("```", 2, 0),
        Block("1", 5, 0, "````"),
    ]


def test_a_block_without_end_reaches_to_the_end() -> None:
    assert list(json_blocks("```json\n{}\n")) == [Block("{}\n", 2, 0)]


def test_a_comment_above_a_block_is_given_whole() -> None:
    (block,) = json_blocks("> <!-- x -->\n>\n> ```json\n> {}\n> ```\n")
    assert block.above == "<!-- x -->"
