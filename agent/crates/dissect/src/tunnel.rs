//! IP packets inside others: IP in IP (RFC 2003, RFC 4213), GRE (RFC 2784, RFC 2890) and ERSPAN,
//! VXLAN (RFC 7348) and GENEVE (RFC 8926). Mirrors of clouds and switches send copies in these.

use crate::link::{CUT, Inside, Unread, behind, ethernet, field};

/// Protocols above IP, by number (<https://www.iana.org/assignments/protocol-numbers>).
const IPV4: u8 = 4;
const IPV6: u8 = 41;
const GRE: u8 = 47;
const ESP: u8 = 50;

/// What an IP packet of this protocol carries that is neither TCP nor UDP.
pub(crate) fn behind_ip(protocol: u8, payload: &[u8]) -> Inside<'_> {
    match protocol {
        IPV4 | IPV6 => Inside::Ip(payload),
        GRE => behind_gre(payload),
        ESP => Inside::Unread(Unread::Encrypted),
        _ => Inside::Other,
    }
}

/// What a UDP datagram to this port carries. Any application may have the port: what does not look
/// like a tunnel's header is no tunnel.
pub(crate) fn behind_udp(port: u16, payload: &[u8]) -> Inside<'_> {
    match (port, payload) {
        // The second port is Linux' from before the number was assigned.
        (4789 | 8472, [0x08, _, _, _, _, _, _, 0, frame @ ..]) => ethernet(frame),
        (4790, [flags, 0, 0, next, _, _, _, _, rest @ ..]) if flags & 0x0c == 0x0c => match next {
            1 | 2 => Inside::Ip(rest),
            3 => ethernet(rest),
            _ => Inside::Other,
        },
        (6081, [first, ..]) if first >> 6 == 0 => {
            let options = usize::from(first & 0x3f) * 4;
            behind(field(payload, 2), payload.get(8 + options..))
        }
        _ => Inside::Other,
    }
}

fn behind_gre(payload: &[u8]) -> Inside<'_> {
    let (Some(flags), Some(protocol)) = (field(payload, 0), field(payload, 2)) else { return CUT };
    if flags & 7 != 0 {
        // Version 1 carries PPP (RFC 2637), whose packets may be compressed and encrypted.
        return Inside::Other;
    }
    let has_number = flags & 0x1000 != 0;
    let optional = [flags & 0x8000 != 0, flags & 0x2000 != 0, has_number];
    let header = 4 + 4 * optional.into_iter().filter(|&it| it).count();
    let Some(rest) = payload.get(header..) else { return CUT };
    match protocol {
        // ERSPAN of type I has no header of its own; that of type II comes with a sequence number.
        0x88be => rest.get(if has_number { 8 } else { 0 }..).map_or(CUT, ethernet),
        // Type III, and its subheader if the last bit says so.
        0x22eb => match rest.get(11).map(|last| 12 + 8 * usize::from(last & 1)) {
            Some(own) => rest.get(own..).map_or(CUT, ethernet),
            None => CUT,
        },
        _ => behind(Some(protocol), Some(rest)),
    }
}
