"""all_reduce with gloo and one rank: its scope starts and ends on a thread of gloo's own."""
import os
import sys
import tempfile

import torch
import torch.distributed as dist

CALLS = 6


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=0, world_size=1)
        value = torch.ones(4)
        for _ in range(CALLS):
            dist.all_reduce(value, async_op=True).wait()
        dist.destroy_process_group()
    print(value.tolist())


if __name__ == "__main__":
    sys.exit(main())
