"""DataLoader with two worker processes; argv[1] is the start method, "fork" or "spawn".

Counted are what the workers' dataset computes (each item is a window of its own, since a worker
leaves by os._exit and nothing can be added at its end) and what the main process does with a batch.
"""
import sys

import torch
from torch.utils.data import DataLoader, Dataset

from window import checksum, window

ITEMS = 24


class Items(Dataset):
    def __len__(self):
        return ITEMS

    def __getitem__(self, index):
        return window(lambda: self.compute(index))

    @staticmethod
    def compute(index):
        row = torch.arange(8, dtype=torch.float32) + index
        return torch.softmax(row.sin() * row, dim=0)


def consume(batch):
    return (batch @ batch.t()).relu().sum()


def main():
    torch.set_num_threads(1)
    loader = DataLoader(Items(), batch_size=4, num_workers=2, multiprocessing_context=sys.argv[1])
    sums = [window(lambda batch=batch: consume(batch)) for batch in loader]
    print("batches", len(sums), checksum(sums))


if __name__ == "__main__":
    main()
