# How HiGHS is compiled (.cargo/config.toml): files together, eight at a time; by the system's compilers, where it would take clang.
set(CMAKE_C_COMPILER cc)
set(CMAKE_CXX_COMPILER c++)
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
