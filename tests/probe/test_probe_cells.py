import itertools

from hypothesis import given
from hypothesis import strategies as st

from cctest.probe.cells import pairwise, product

AXES = st.dictionaries(
    st.sampled_from(["stream", "place", "position", "count", "scope"]),
    st.lists(st.sampled_from("abcdef"), min_size=1, max_size=5, unique=True),
    max_size=4,
)


@given(AXES)
def test_every_pair_of_values_meets_in_some_cell(axes: dict[str, list[str]]) -> None:
    cells = list(pairwise(axes))
    for one, other in itertools.combinations(axes, 2):
        met = {(cell[one], cell[other]) for cell in cells}
        assert met == set(itertools.product(axes[one], axes[other]))


@given(AXES)
def test_every_value_of_every_axis_is_met(axes: dict[str, list[str]]) -> None:
    cells = list(pairwise(axes))
    for axis, values in axes.items():
        assert {cell[axis] for cell in cells} == set(values)


@given(AXES)
def test_no_cell_is_run_twice_and_none_is_outside_the_product(axes: dict[str, list[str]]) -> None:
    cells = [tuple(cell.items()) for cell in pairwise(axes)]
    assert len(cells) == len(set(cells))
    assert set(cells) <= {tuple(cell.items()) for cell in product(axes)}


def test_the_cover_is_much_smaller_than_the_product() -> None:
    axes = {
        "stream": ["plain", "streamed"],
        "place": ["tools", "system", "user", "assistant", "tool", "parts"],
        "position": ["first", "middle", "last"],
        "count": ["few", "many"],
        "scope": ["session", "principal", "tenant"],
    }
    assert len(list(product(axes))) == 216
    assert len(list(pairwise(axes))) <= 24


def test_a_case_without_axes_has_one_cell() -> None:
    assert list(pairwise({})) == [{}]
