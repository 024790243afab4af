"""A block-hashed prefix cache with vLLM's semantics: the salt is in the first block's hash, the rest chain.

It shares no code with `cctest.engine`, which our own gateway uses: a fault in one of them then shows.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence


class PrefixCache:
    """Blocks of `block_size` tokens, at most `capacity_blocks`; the least recently used goes first.

    Of blocks that were used together the deepest goes first. Safe to use from several threads.
    """

    def __init__(self, block_size: int, capacity_blocks: int) -> None:
        self._block_size = block_size
        self._capacity = capacity_blocks
        self._blocks: OrderedDict[bytes, None] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Count the retained blocks."""
        return len(self._blocks)

    def serve(
        self,
        tokens: Sequence[bytes],
        salt: str | None = None,
        identity: bytes = b"",
        *,
        look_up: bool = True,
    ) -> int:
        """Compute the state of an input, and give how many of its tokens were reused.

        That is a multiple of the block size and never the whole input: its last token is always computed.
        All full blocks are retained afterwards. Tokens have up to 255 bytes;
        `identity` stands for the execution identity. Without `look_up` all is computed.
        """
        blocks = list(self._hashes(tokens, salt, identity))
        most = max(len(tokens) - 1, 0) // self._block_size if look_up else 0
        with self._lock:
            reused = 0
            while reused < most and blocks[reused] in self._blocks:
                reused += 1
            for block in reversed(blocks):
                self._blocks[block] = None
                self._blocks.move_to_end(block)
            while len(self._blocks) > self._capacity:
                self._blocks.popitem(last=False)
        return reused * self._block_size

    def _hashes(self, tokens: Sequence[bytes], salt: str | None, identity: bytes) -> Iterator[bytes]:
        extra = b"" if salt is None else b"salt:" + salt.encode("utf-8", "surrogatepass")
        parent = hashlib.sha256(identity).digest()
        size = self._block_size
        for start in range(0, len(tokens) - size + 1, size):
            block = tokens[start : start + size]
            lengths = len(extra).to_bytes(4, "big") + bytes(map(len, block))
            parent = hashlib.sha256(b"".join((parent, lengths, extra, *block))).digest()
            extra = b""
            yield parent
