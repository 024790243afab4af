"""A backend that caches nothing, and says so: it never looks, retains nothing, shares with nobody.

Fresh computation without retention satisfies every constraint, so it can enforce whatever it is asked
(INT-2): it is the fallback, all the time.
"""

from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Final

from cctest.contract.capabilities import Capabilities
from cctest.contract.vocabulary import OnUnenforceable, Outcome, RetentionMode, Reuse, Scope
from reference_gateway.backend import FragmentObservation, Served
from reference_gateway.in_process.computation import answer, render_all, tokenize_all
from reference_gateway.plan import Plan
from reference_gateway.rendering.rendered_order import BY_CONSTRUCTION, RenderedOrder

MODEL: Final = "null"

_NOTHING: Final = FragmentObservation(Outcome.BYPASS, retained=False, share=Scope.REQUEST)


class NullBackend:
    """An engine in this process, without a cache."""

    def __init__(self, *, on_unenforceable: OnUnenforceable = OnUnenforceable.BYPASS) -> None:
        self.models: Final = (MODEL,)
        self.ready: Final = True
        self.capabilities: Final = Capabilities(
            versions=(1,),
            retention_modes=tuple(RetentionMode),
            retention_max_age=True,
            reuse=(Reuse.NONE, Reuse.EXACT),
            share_max=tuple(Scope),
            namespace=True,
            on_unenforceable=on_unenforceable,
            status=True,
            per_fragment_share=False,
        )

    def order(self, _: str) -> RenderedOrder:
        """Tell the order of our own template."""
        return BY_CONSTRUCTION

    def running(self) -> AbstractAsyncContextManager[None]:
        """Keep up nothing."""
        return nullcontext()

    async def serve(self, plan: Plan) -> Served:
        """Serve a plan afresh."""
        tokens = sum(map(len, tokenize_all(render_all(plan))))
        return answer(plan, tokens, 0, (_NOTHING,) * len(plan.fragments))
