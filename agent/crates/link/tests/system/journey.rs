//! One request's way through the tiers, and the visits that it leaves behind.

use super::{APP, DB, LB, System, WEB};
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_distr::{Distribution, Exp1};
use std::cmp::Reverse;
use tierlab_link::{Span, Visit};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stage {
    WebIn,
    AppIn,
    LbIn,
    Db,
    LbOut,
    Between,
    Render,
    WebOut,
}

/// A request under way.
pub struct Request {
    page: usize,
    id: u64,
    parameter: Option<u64>,
    script: Vec<(u32, bool, f64)>,
    at: usize,
    stage: Stage,
    web: i64,
    app: i64,
    web_ns: i64,
    app_ns: i64,
    lb_ns: i64,
    db_ns: i64,
    db_end_ns: i64,
    reply_ns: i64,
    ajp: i64,
    connection: i64,
}

impl System {
    pub fn begin(&mut self, user: usize) {
        let page = match self.setting.only_page {
            Some(page) => page,
            None => {
                let all: Vec<usize> = (0..self.pages.len()).collect();
                *all.choose_weighted(&mut self.random, |&at| self.pages[at].weight)
                    .expect("weights are positive")
            }
        };
        let values = self.pages[page].parameters;
        let parameter = (values > 0).then(|| {
            let drawn: f64 = self.random.random();
            page as u64 * 10_000_000 + (drawn * drawn * values as f64) as u64
        });
        let script = self.script(page);
        let (web, app, id) = (self.number(), self.number(), self.random.random());
        let now = self.now_ns();
        self.requests[user] = Some(Request {
            page,
            id,
            parameter,
            script,
            at: 0,
            stage: Stage::WebIn,
            web,
            app,
            web_ns: now,
            app_ns: 0,
            lb_ns: 0,
            db_ns: 0,
            db_end_ns: 0,
            reply_ns: 0,
            ajp: 0,
            connection: 0,
        });
        self.work(user, 150.0);
    }

    fn script(&mut self, page: usize) -> Vec<(u32, bool, f64)> {
        let mut script = Vec::new();
        for statement in &self.pages[page].statements {
            if !self.random.random_bool(statement.kept) {
                continue;
            }
            let again = 1.0 - 1.0 / statement.times;
            loop {
                script.push((statement.digest, statement.parameter, statement.cost_us));
                if !self.random.random_bool(again) {
                    break;
                }
            }
        }
        script
    }

    fn of(&mut self, user: usize) -> &mut Request {
        self.requests[user].as_mut().expect("a request is under way")
    }

    pub fn proceed(&mut self, user: usize) {
        let now = self.now_ns();
        let request = self.of(user);
        let (stage, page, silent) = (request.stage, request.page, request.script.is_empty());
        match stage {
            Stage::WebIn if self.pages[page].is_static => {
                self.of(user).reply_ns = now;
                self.finish(user);
            }
            Stage::WebIn => self.enter_app(user),
            Stage::AppIn if silent => self.render(user),
            Stage::AppIn => match self.idle.pop_front() {
                Some(connection) => self.lease(user, connection),
                None => self.for_connection.push_back(user),
            },
            Stage::LbIn => {
                self.of(user).db_ns = now;
                self.of(user).stage = Stage::Db;
                let request = self.of(user);
                let cost = request.script[request.at].2;
                self.work(user, cost);
            }
            Stage::Db => {
                self.of(user).db_end_ns = now;
                self.of(user).stage = Stage::LbOut;
                self.work(user, 15.0);
            }
            Stage::LbOut => self.statement_done(user),
            Stage::Between => self.statement(user),
            Stage::Render => self.leave_app(user),
            Stage::WebOut => self.finish(user),
        }
    }

    fn enter_app(&mut self, user: usize) {
        let connection = self.ajp_idle.pop().unwrap_or_else(|| {
            self.ajp_opened += 1;
            self.ajp_opened
        });
        let now = self.now_ns();
        let request = self.of(user);
        (request.ajp, request.app_ns, request.stage) = (connection, now, Stage::AppIn);
        if self.threads > 0 {
            self.threads -= 1;
            self.work(user, 150.0);
        } else {
            self.for_thread.push_back(user);
        }
    }

    fn lease(&mut self, user: usize, connection: i64) {
        self.of(user).connection = connection;
        self.of(user).stage = Stage::Between;
        self.work(user, 40.0);
    }

    fn statement(&mut self, user: usize) {
        let now = self.now_ns();
        (self.of(user).lb_ns, self.of(user).stage) = (now, Stage::LbIn);
        self.work(user, 15.0);
    }

    fn statement_done(&mut self, user: usize) {
        let now = self.now_ns();
        let (lb, db) = (self.number(), self.number());
        let request = self.of(user);
        let (digest, parameter, _) = request.script[request.at];
        let literals: Vec<u64> = request.parameter.filter(|_| parameter).into_iter().collect();
        let (id, app, connection) = (request.id, request.app, request.connection);
        let (lb_ns, db_ns, db_end_ns) = (request.lb_ns, request.db_ns, request.db_end_ns);
        request.at += 1;
        let over = request.at == request.script.len();
        let mut back = visit(db, DB, 1_000 + connection, (db_ns, db_end_ns), digest, id, &literals);
        (back.upstream, back.lent) = (Some(connection), true);
        let mut front = visit(lb, LB, connection, (lb_ns, now), digest, id, &literals);
        front.lent = true;
        self.keep(back, Some(lb));
        self.keep(front, Some(app));
        if over {
            if !self.setting.keeps {
                self.give_back(connection);
            }
            self.render(user);
        } else {
            self.of(user).stage = Stage::Between;
            self.work(user, 60.0);
        }
    }

    fn give_back(&mut self, connection: i64) {
        if let Some(next) = self.for_connection.pop_front() {
            self.lease(next, connection);
        } else if self.setting.lifo {
            self.idle.push_front(connection);
        } else {
            self.idle.push_back(connection);
        }
    }

    fn render(&mut self, user: usize) {
        self.of(user).stage = Stage::Render;
        self.work(user, 200.0);
    }

    fn leave_app(&mut self, user: usize) {
        let now = self.now_ns();
        let keeps = self.setting.keeps;
        let request = self.of(user);
        let (app, web, id, page, ajp) =
            (request.app, request.web, request.id, request.page, request.ajp);
        let literals: Vec<u64> = request.parameter.into_iter().collect();
        let kept = (keeps && request.at > 0).then_some(request.connection);
        let start = request.app_ns;
        (request.stage, request.reply_ns) = (Stage::WebOut, now);
        let label = self.pages[page].label;
        let served = visit(app, APP, ajp, (start, now), label, id, &literals);
        self.keep(served, Some(web));
        if let Some(connection) = kept {
            self.give_back(connection);
        }
        self.ajp_idle.push(ajp);
        match self.for_thread.pop_front() {
            Some(next) => self.work(next, 150.0),
            None => self.threads += 1,
        }
        self.work(user, 80.0);
    }

    fn finish(&mut self, user: usize) {
        let now = self.now_ns();
        let request = self.requests[user].take().expect("a request is under way");
        let literals: Vec<u64> = request.parameter.into_iter().collect();
        let label = self.pages[request.page].label;
        let span = (request.web_ns, now);
        let served = visit(request.web, WEB, user as i64, span, label, request.id, &literals);
        self.keep(served, None);
        let drawn: f64 = Exp1.sample(&mut self.random);
        let at = self.now_us + self.setting.think_ms * 1e3 * drawn;
        self.thinking.push(Reverse((at as u64, user)));
    }

    fn keep(&mut self, mut visit: Visit, parent: Option<i64>) {
        if !self.setting.literals {
            visit.literals = Box::default();
        }
        if let Some(parent) = parent {
            self.capture.parents.insert(visit.visit, parent);
        }
        self.capture.visits.push(visit);
    }
}

fn visit(
    number: i64,
    server: u16,
    connection: i64,
    (arrival_ns, departure_ns): (i64, i64),
    label: u32,
    id: u64,
    literals: &[u64],
) -> Visit {
    Visit {
        visit: number,
        server,
        protocol: 0,
        lent: false,
        connection,
        span: Span { arrival_ns, departure_ns },
        ended_ns: departure_ns,
        request_end_ns: arrival_ns,
        reply_start_ns: Some(departure_ns),
        closed_ns: None,
        may_wait_ns: None,
        label,
        status: None,
        bytes_in: 0,
        bytes_out: 0,
        upstream: None,
        id: Some(id),
        literals: literals.into(),
        endpoints: 0,
        work: None,
    }
}
