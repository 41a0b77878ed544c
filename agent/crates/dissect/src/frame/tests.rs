use super::*;
use etherparse::PacketBuilder;

fn ip_packet(payload: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    PacketBuilder::ipv4([127, 0, 0, 1], [127, 0, 1, 1], 64)
        .tcp(40_000, 8080, 7, 512)
        .ack(9)
        .write(&mut packet, payload)
        .expect("a vector takes all");
    packet
}

fn ethernet(ether_type: u16, inside: &[u8]) -> Vec<u8> {
    [&[2; 12][..], &ether_type.to_be_bytes(), inside].concat()
}

/// An IPv4 packet of this protocol around another packet.
fn ipv4_around(protocol: u8, inside: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    let header = etherparse::Ipv4Header::new(
        inside.len() as u16,
        64,
        etherparse::IpNumber(protocol),
        [10, 0, 0, 1],
        [10, 0, 0, 2],
    );
    header.expect("short").write(&mut packet).expect("a vector takes all");
    [packet, inside.to_vec()].concat()
}

fn udp_around(port: u16, inside: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .udp(50_000, port)
        .write(&mut packet, inside)
        .expect("a vector takes all");
    packet
}

fn parse(link: LinkType, bytes: &[u8]) -> Parsed<'_> {
    CapturedFrame::whole(link, bytes).parse()
}

#[test]
fn every_link_type_leads_to_the_same_segment() {
    let ip = ip_packet(b"hello");
    let expected = Segment::parse(LinkType::Raw, &ip).expect("a segment");
    assert_eq!((expected.payload, expected.length), (&b"hello"[..], 5));
    assert_eq!((expected.sequence, expected.acknowledgment), (7, Some(9)));
    assert_eq!((expected.source.port, expected.destination.port), (40_000, 8080));
    let sll = [&[0; 14][..], &[8, 0]].concat();
    let sll2 = [&[8, 0][..], &[0; 18]].concat();
    let mpls = [0, 0, 0x10, 64, 0, 0, 0x21, 64];
    let tagged = [0, 5, 8, 0];
    let pppoe = [0x11, 0, 0, 1, 0, 60, 0, 0x21];
    for (link, header) in [
        (LinkType::Null, vec![2, 0, 0, 0]),
        (LinkType::Ethernet, ethernet(0x0800, &[])),
        (LinkType::Ethernet, ethernet(0x8100, &tagged)),
        (LinkType::Ethernet, ethernet(0x88a8, &[&[0, 7, 0x81, 0][..], &tagged].concat())),
        (LinkType::Ethernet, ethernet(0x8847, &mpls)),
        (
            LinkType::Ethernet,
            ethernet(0x8847, &[&mpls[..], &[0; 4], &ethernet(0x0800, &[])].concat()),
        ),
        (LinkType::Ethernet, ethernet(0x8864, &pppoe)),
        (LinkType::Ethernet, ethernet(0x8100, &[&[0, 5, 0x88, 0x64][..], &pppoe].concat())),
        (LinkType::Ethernet, ethernet(0x20, &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0])),
        (LinkType::LinuxSll, sll),
        (LinkType::LinuxSll, [&[0; 14][..], &[0x81, 0], &tagged].concat()),
        (LinkType::LinuxSll2, sll2),
        (LinkType::LinuxSll2, [&[0x81, 0][..], &[0; 18], &tagged].concat()),
    ] {
        let frame = [header.clone(), ip.clone()].concat();
        assert_eq!(parse(link, &frame), Parsed::Segment(expected), "{link:?} {header:?}");
    }
}

#[test]
fn what_tunnels_carry_is_read() {
    let ip = ip_packet(b"hello");
    let inner = ethernet(0x0800, &ip);
    let expected = Parsed::Segment(Segment::parse(LinkType::Raw, &ip).expect("a segment"));
    let vxlan = udp_around(4789, &[&[8, 0, 0, 0, 0, 0, 9, 0][..], &inner].concat());
    let geneve = [&[1, 0, 0x65, 0x58, 0, 0, 9, 0, 1, 2, 3, 4][..], &inner].concat();
    let in_ip6 = {
        let mut packet = Vec::new();
        etherparse::Ipv6Header {
            payload_length: ip.len() as u16,
            next_header: etherparse::IpNumber(4),
            hop_limit: 64,
            ..Default::default()
        }
        .write(&mut packet)
        .expect("a vector takes all");
        [packet, ip.clone()].concat()
    };
    for packet in [
        ipv4_around(4, &ip),
        in_ip6,
        ipv4_around(47, &[&[0, 0, 8, 0][..], &ip].concat()),
        ipv4_around(47, &[&[0xb0, 0, 8, 0][..], &[0; 12], &ip].concat()),
        ipv4_around(47, &[&[0, 0, 0x65, 0x58][..], &inner].concat()),
        ipv4_around(47, &[&[0, 0, 0x88, 0xbe][..], &inner].concat()),
        ipv4_around(47, &[&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1][..], &[0; 8], &inner].concat()),
        ipv4_around(47, &[&[0x10, 0, 0x22, 0xeb, 0, 0, 0, 1][..], &[0; 12], &inner].concat()),
        udp_around(8472, &[&[8, 0, 0, 0, 0, 0, 9, 0][..], &inner].concat()),
        udp_around(4790, &[&[0x0c, 0, 0, 1, 0, 0, 9, 0][..], &ip].concat()),
        udp_around(6081, &geneve),
        ipv4_around(4, &vxlan),
        vxlan,
    ] {
        assert_eq!(parse(LinkType::Raw, &packet), expected, "{packet:?}");
    }
}

#[test]
fn what_may_carry_a_segment_and_is_not_read_says_why() {
    let ip = ip_packet(b"hello");
    let mut fragment = ip.clone();
    fragment[6] = 0x20;
    let deep = (0..9).fold(ip.clone(), |inside, _| ipv4_around(4, &inside));
    for (link, frame, expected) in [
        (LinkType::Ethernet, ethernet(0x88e5, &ip), Unread::Encrypted),
        (LinkType::Raw, ipv4_around(50, &ip), Unread::Encrypted),
        (LinkType::Ethernet, ethernet(0x22f0, &ip), Unread::EtherType(0x22f0)),
        (LinkType::Raw, fragment, Unread::Fragment),
        (LinkType::Raw, ip[..30].to_vec(), Unread::Headers),
        (LinkType::Raw, deep, Unread::TooDeep),
        (LinkType::Ethernet, vec![0; 10], Unread::Headers),
        (LinkType::Raw, Vec::new(), Unread::Headers),
        (LinkType::Unsupported(227), ip.clone(), Unread::LinkType(227)),
    ] {
        assert_eq!(parse(link, &frame), Parsed::Unread(expected));
    }
    for frame in [ethernet(0x0806, &[0; 28]), ethernet(0x0800, &udp_around(53, &ip))] {
        assert_eq!(parse(LinkType::Ethernet, &frame), Parsed::Other);
    }
}

#[test]
fn an_application_on_a_tunnels_port_is_no_tunnel() {
    let inner = ethernet(0x0800, &ip_packet(b"hello"));
    for packet in [
        udp_around(4789, &[&[9, 0, 0, 0, 0, 0, 9, 0][..], &inner].concat()),
        udp_around(53, &[&[8, 0, 0, 0, 0, 0, 9, 0][..], &inner].concat()),
        udp_around(6081, b"\xff"),
    ] {
        assert_eq!(parse(LinkType::Raw, &packet), Parsed::Other);
    }
}

#[test]
fn ethernet_padding_is_not_payload() {
    let frame = [ethernet(0x0800, &ip_packet(b"")), vec![0; 6]].concat();
    let segment = Segment::parse(LinkType::Ethernet, &frame).expect("a segment");
    assert_eq!((segment.payload.len(), segment.length), (0, 0));
}

#[test]
fn a_cut_frame_knows_its_length() {
    let ip = ip_packet(&[b'x'; 1000]);
    let segment = Segment::parse(LinkType::Raw, &ip[..140]).expect("a segment");
    assert_eq!((segment.payload.len(), segment.length), (100, 1000));
}

#[test]
fn a_cut_frame_of_more_than_64_kib_has_its_length_on_the_wire() {
    let mut ip = ip_packet(&[b'x'; 1000]);
    ip[2..4].fill(0);
    let bytes = &ethernet(0x0800, &ip)[..154];
    let frame = CapturedFrame { link: LinkType::Ethernet, wire_length: 14 + 40 + 150_000, bytes };
    let Parsed::Segment(segment) = frame.parse() else { panic!("a segment") };
    assert_eq!((segment.payload.len(), segment.length), (100, 150_000));
}

#[test]
fn ipv6_is_read() {
    let mut packet = Vec::new();
    PacketBuilder::ipv6([1; 16], [2; 16], 64)
        .tcp(1, 2, 3, 4)
        .write(&mut packet, b"abc")
        .expect("a vector takes all");
    let segment = Segment::parse(LinkType::Raw, &packet).expect("a segment");
    assert_eq!((segment.payload, segment.length), (&b"abc"[..], 3));
    assert_eq!(segment.destination.address, IpAddr::from([2; 16]));
}
