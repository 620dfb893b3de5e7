"""The bounded baseline: few closed forms by least squares, where no search engine can be had."""
