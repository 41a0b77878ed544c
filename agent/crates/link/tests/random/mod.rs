//! Applications drawn at random, simulated, and what linking makes of them.

#![allow(dead_code)]

pub mod application;
pub mod judgement;
pub mod simulation;
pub mod under_way;
