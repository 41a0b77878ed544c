//! A request in AJP/1.3 whose body never comes.
//!
//! Source: the Apache Tomcat Connectors' AJP protocol reference, "Request Packet Structure".

use anyhow::{Result, ensure};
use std::net::Ipv4Addr;

const TO_SERVER: [u8; 2] = [0x12, 0x34];
const FORWARD_REQUEST: u8 = 2;
const POST: u8 = 4;
const CONTENT_TYPE: [u8; 2] = [0xa0, 0x07];
const CONTENT_LENGTH: [u8; 2] = [0xa0, 0x08];
const END: u8 = 0xff;
/// The longest packet, of which its head takes 4.
const LONGEST: usize = 8192 - 4;

/// A POST of a form of `length` bytes, of which none follows.
pub fn post(path: &str, address: Ipv4Addr, port: u16, length: usize) -> Result<Vec<u8>> {
    let mut body = vec![FORWARD_REQUEST, POST];
    string(&mut body, "HTTP/1.1");
    string(&mut body, path);
    // Remote address, remote host (null), server name.
    string(&mut body, &address.to_string());
    body.extend([0xff, 0xff]);
    string(&mut body, &address.to_string());
    body.extend(port.to_be_bytes());
    // Not over TLS; two headers.
    body.extend([0, 0, 2]);
    body.extend(CONTENT_TYPE);
    string(&mut body, "application/x-www-form-urlencoded");
    body.extend(CONTENT_LENGTH);
    string(&mut body, &length.to_string());
    body.push(END);
    ensure!(body.len() <= LONGEST, "`path` is too long");
    let mut packet = TO_SERVER.to_vec();
    packet.extend((body.len() as u16).to_be_bytes());
    packet.append(&mut body);
    Ok(packet)
}

fn string(into: &mut Vec<u8>, text: &str) {
    into.extend((text.len() as u16).to_be_bytes());
    into.extend(text.as_bytes());
    into.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_announces_its_own_length_and_the_body_that_never_comes() {
        let packet = post("/page", Ipv4Addr::new(127, 0, 0, 1), 8009, 1000).unwrap();
        assert_eq!(packet[..4], [0x12, 0x34, 0, (packet.len() - 4) as u8]);
        assert!(packet.windows(9).any(|bytes| bytes == b"\xa0\x08\0\x041000\0"));
        assert_eq!(packet.last(), Some(&END));
    }
}
