"""One search per file. A search sees a criterion and a profiler, and nothing else of the world."""
