//! A parameter server and the participants around it: networks with training jobs, and their runs in virtual time.
//!
//! Pure functions without I/O and without a clock.
