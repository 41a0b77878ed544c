//! The pages of RUBBoS: how often each is asked for and what it says to the database.

/// A statement and how it came about.
#[derive(Clone, Copy)]
pub struct Statement {
    pub digest: u32,
    /// Carries the page's own parameter as a literal.
    pub parameter: bool,
    /// CPU time in the database, in microseconds, on average.
    pub cost_us: f64,
    /// Repeated at random: this many times on average (1 + geometric); 1 is exactly once.
    pub times: f64,
    /// Left out at random: kept with this probability.
    pub kept: f64,
}

/// A page and how often it is asked for.
pub struct Page {
    pub label: u32,
    pub weight: f64,
    /// Parameters are drawn from so many values, small ones far more often; 0 is none.
    pub parameters: u64,
    pub statements: Vec<Statement>,
    /// Served by the web server alone.
    pub is_static: bool,
}

const fn once(digest: u32, parameter: bool, cost_us: f64) -> Statement {
    Statement { digest, parameter, cost_us, times: 1.0, kept: 1.0 }
}

const fn often(digest: u32, parameter: bool, cost_us: f64, times: f64) -> Statement {
    Statement { digest, parameter, cost_us, times, kept: 1.0 }
}

const fn perhaps(digest: u32, parameter: bool, cost_us: f64, kept: f64) -> Statement {
    Statement { digest, parameter, cost_us, times: 1.0, kept }
}

const STORY: Statement = once(1, true, 150.0);
const OLD_STORY: Statement = perhaps(2, true, 150.0, 0.2);
const COUNTS: Statement = once(3, true, 250.0);
const TOP_COMMENTS: Statement = once(4, true, 600.0);
const CHILDREN: Statement = often(5, false, 150.0, 3.0);
const LOGIN: Statement = once(6, true, 120.0);
const CATEGORIES: Statement = once(7, false, 100.0);
const BEGIN: Statement = once(8, false, 30.0);
const COMMIT: Statement = once(9, false, 800.0);

/// The 24 states with their weights in the read/write mix, rounded.
pub fn rubbos() -> Vec<Page> {
    let pages: Vec<(f64, u64, Vec<Statement>)> = vec![
        (17.3, 0, vec![once(10, false, 700.0)]),
        (1.2, 0, vec![]),
        (1.0, 1_000_000, vec![once(11, true, 100.0), BEGIN, once(12, true, 100.0), COMMIT]),
        (5.7, 0, vec![]),
        (5.0, 0, vec![CATEGORIES]),
        (4.5, 20, vec![once(13, true, 500.0)]),
        (4.0, 60, vec![once(14, true, 400.0), perhaps(15, true, 400.0, 0.3)]),
        (17.7, 3_000, vec![STORY, OLD_STORY, COUNTS, TOP_COMMENTS, CHILDREN]),
        (7.8, 0, vec![]),
        (
            7.7,
            500_000,
            vec![
                LOGIN,
                once(16, true, 90.0),
                BEGIN,
                perhaps(17, true, 120.0, 0.5),
                once(18, true, 200.0),
                COMMIT,
            ],
        ),
        (13.6, 8_000, vec![once(19, true, 120.0), COUNTS, TOP_COMMENTS, CHILDREN]),
        (2.0, 8_000, vec![once(20, true, 150.0)]),
        (1.9, 400_000, vec![LOGIN, once(21, true, 100.0), BEGIN, once(22, true, 150.0), COMMIT]),
        (1.6, 0, vec![CATEGORIES]),
        (1.5, 300_000, vec![LOGIN, BEGIN, once(23, true, 200.0), COMMIT]),
        (1.5, 0, vec![]),
        (1.5, 400, vec![once(24, true, 900.0), perhaps(25, true, 900.0, 0.4)]),
        (1.4, 400, vec![once(26, true, 1_500.0), perhaps(27, true, 1_500.0, 0.4)]),
        (1.3, 400, vec![once(28, true, 800.0), perhaps(29, true, 800.0, 0.4)]),
        (0.8, 0, vec![]),
        (0.8, 200_000, vec![LOGIN]),
        (0.8, 0, vec![once(30, false, 600.0)]),
        (
            0.3,
            5_000,
            vec![once(31, true, 90.0), BEGIN, once(32, true, 90.0), once(33, true, 90.0), COMMIT],
        ),
        (0.3, 5_000, vec![once(31, true, 90.0), BEGIN, once(33, true, 90.0), COMMIT]),
    ];
    let stated = [1, 3, 15, 19];
    (pages.into_iter().enumerate())
        .map(|(at, (weight, parameters, statements))| Page {
            label: 100 + at as u32,
            weight,
            parameters,
            statements,
            is_static: stated.contains(&at) && at != 15,
        })
        .collect()
}
