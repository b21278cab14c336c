"""One search per file. A search sees only a criterion and a profiler."""
