"""A task that is interrupted can tell that from being cancelled."""

import asyncio

import pytest

from reference_gateway.callers.interruption import Interruption


async def interrupted(begun: asyncio.Event, made: list[Interruption]) -> str:
    interruption = Interruption()
    made.append(interruption)
    begun.set()
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        if not interruption.meant():
            raise
        return "interrupted"
    return "slept"


async def run(*, interrupt: int, cancel: bool) -> str:
    begun, made = asyncio.Event(), list[Interruption]()
    task = asyncio.create_task(interrupted(begun, made))
    await begun.wait()
    for _ in range(interrupt):
        made[0]()
    if cancel:
        task.cancel()
    return await task


@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupted_task_goes_on(times: int) -> None:
    assert asyncio.run(run(interrupt=times, cancel=False)) == "interrupted"


@pytest.mark.parametrize("times", [0, 1])
def test_a_task_that_is_cancelled_as_well_ends(times: int) -> None:
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run(interrupt=times, cancel=True))
