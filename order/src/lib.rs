//! In which order participants meet a parameter server: whose turn it is to pull the model, and when an update is
//! applied (R²SP and FL-R²SP), as state machines without I/O and without a clock.
