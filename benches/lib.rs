//! Benchmarks of Tapescope: see README.md beside this file.
