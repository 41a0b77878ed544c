//! Names of the system calls in which threads sleep. A number that is not here is named by itself.

use std::borrow::Cow;

/// Of this architecture, by number.
#[cfg(target_arch = "x86_64")]
const NAMES: &[(u32, &str)] = &[
    (0, "read"),
    (1, "write"),
    (7, "poll"),
    (17, "pread64"),
    (18, "pwrite64"),
    (19, "readv"),
    (20, "writev"),
    (23, "select"),
    (34, "pause"),
    (35, "nanosleep"),
    (40, "sendfile"),
    (42, "connect"),
    (43, "accept"),
    (44, "sendto"),
    (45, "recvfrom"),
    (46, "sendmsg"),
    (47, "recvmsg"),
    (61, "wait4"),
    (64, "semget"),
    (72, "fcntl"),
    (74, "fsync"),
    (75, "fdatasync"),
    (128, "rt_sigtimedwait"),
    (130, "rt_sigsuspend"),
    (202, "futex"),
    (208, "io_getevents"),
    (230, "clock_nanosleep"),
    (232, "epoll_wait"),
    (242, "mq_timedsend"),
    (243, "mq_timedreceive"),
    (247, "waitid"),
    (270, "pselect6"),
    (271, "ppoll"),
    (275, "splice"),
    (281, "epoll_pwait"),
    (288, "accept4"),
    (299, "recvmmsg"),
    (307, "sendmmsg"),
    (426, "io_uring_enter"),
    (441, "epoll_pwait2"),
];

/// Of this architecture, by number.
#[cfg(target_arch = "aarch64")]
const NAMES: &[(u32, &str)] = &[
    (21, "epoll_ctl"),
    (22, "epoll_pwait"),
    (25, "fcntl"),
    (63, "read"),
    (64, "write"),
    (65, "readv"),
    (66, "writev"),
    (67, "pread64"),
    (68, "pwrite64"),
    (71, "sendfile"),
    (72, "pselect6"),
    (73, "ppoll"),
    (76, "splice"),
    (82, "fsync"),
    (83, "fdatasync"),
    (95, "waitid"),
    (98, "futex"),
    (101, "nanosleep"),
    (115, "clock_nanosleep"),
    (202, "accept"),
    (203, "connect"),
    (206, "sendto"),
    (207, "recvfrom"),
    (211, "sendmsg"),
    (212, "recvmsg"),
    (242, "accept4"),
    (243, "recvmmsg"),
    (260, "wait4"),
    (269, "sendmmsg"),
    (426, "io_uring_enter"),
    (441, "epoll_pwait2"),
];

/// The name of a system call.
pub fn name(number: u32) -> Cow<'static, str> {
    match NAMES.iter().find(|&&(known, _)| known == number) {
        Some(&(_, name)) => name.into(),
        None => format!("system call {number}").into(),
    }
}
