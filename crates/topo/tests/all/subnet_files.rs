//! Files of real fabrics: `ibnetdiscover`, forwarding tables, service levels, compact tables, removals. What is written is read again;
//! what is wrong is refused with its line.

use std::collections::VecDeque;
use topo::preset;
use topo::subnet::faults::{Removal, remove};
use topo::subnet::ibnetdiscover::{self, Discovered, Rates};
use topo::subnet::{Lids, Mistakes, Subnet, Tables, compact, lft};

/// Two switches with a double cable, an adapter with two ports, one with one, an aggregation node and an adapter without a cable.
const SMALL: &str = "#
# Topology file: generated on Tue Jun  5 14:15:10 2007
#
# Initiated from node 0008f10403960558 port 0008f10403960559

vendid=0x8f1
devid=0x5a06
sysimgguid=0x5442ba00003000
switchguid=0x5442ba00003080(5442ba00003080)
Switch\t24 \"S-005442ba00003080\"\t\t# \"leaf one\" base port 0 lid 6 lmc 0
[22]\t\"H-0008f10403961354\"[1](8f10403961355) \t\t# \"alpha HCA-1\" lid 4 4xSDR
[10]\t\"S-0008f10400410015\"[1]\t\t# \"leaf two\" lid 3 4xQDR
[6]\t\"S-0008f10400410015\"[3]\t\t# \"leaf two\" lid 3 4xQDR
[12]\t\"H-0008f10403960558\"[1](8f10403960559) \t\t# \"beta\" lid 10 4xSDR
[24]\t\"H-00000000000000aa\"[1](ab) \t\t# \"Mellanox Technologies Aggregation Node\" lid 40 4xSDR

vendid=0x8f1
devid=0x5a05
switchguid=0x8f10400410015(8f10400410015)
Switch\t8 \"S-0008f10400410015\"\t\t# \"leaf two\" enhanced port 0 lid 3 lmc 0
[1]\t\"S-005442ba00003080\"[10]\t\t# \"leaf one\" lid 6 4xQDR
[3]\t\"S-005442ba00003080\"[6]\t\t# \"leaf one\" lid 6 4xQDR
[8]\t\"H-0008f10403960558\"[2](8f1040396055a) \t\t# \"beta\" lid 14 4xSDR

vendid=0x2c9
devid=0x5a44
sysimgguid=0x8f10403961357
caguid=0x8f10403961354
Ca\t2 \"H-0008f10403961354\"\t\t# \"alpha HCA-1\"
[1](8f10403961355) \t\"S-005442ba00003080\"[22]\t\t# lid 4 lmc 1 \"leaf one\" lid 6 4xSDR

caguid=0x8f10403960558
Ca\t2 \"H-0008f10403960558\"\t\t# \"beta\"
[1](8f10403960559) \t\"S-005442ba00003080\"[12]\t\t# lid 10 lmc 1 \"leaf one\" lid 6 4xSDR
[2](8f1040396055a) \t\"S-0008f10400410015\"[8]\t\t# lid 14 lmc 1 \"leaf two\" lid 3 4xSDR

caguid=0xaa
Ca\t1 \"H-00000000000000aa\"\t\t# \"Mellanox Technologies Aggregation Node\"
[1](ab) \t\"S-005442ba00003080\"[24]\t\t# lid 40 lmc 0 \"leaf one\" lid 6 4xSDR

caguid=0xbb
Ca\t1 \"H-00000000000000bb\"\t\t# \"spare\"
";

fn small() -> Discovered {
    ibnetdiscover::read(SMALL.as_bytes()).unwrap()
}

fn refused(text: &str) -> Mistakes {
    match ibnetdiscover::read(text.as_bytes()) {
        Err(mistakes) => mistakes,
        Ok(_) => panic!("taken:\n{text}"),
    }
}

#[test]
fn ports_names_lids_and_rates_are_kept() {
    let found = small();
    let subnet = &found.subnet;
    assert_eq!(subnet.verify(), Ok(()));
    assert_eq!((subnet.n_switches(), subnet.n_hosts(), subnet.lmc), (2, 3, 1));
    let hosts: Vec<(&str, u64, u32, u16)> = subnet
        .hosts
        .iter()
        .map(|h| (h.name.as_str(), h.guid, h.switch, h.port))
        .collect();
    let expected = [
        ("beta/1", 0x0008_f104_0396_0559, 0, 12),
        ("alpha HCA-1", 0x0008_f104_0396_1355, 0, 22),
        ("beta/2", 0x0008_f104_0396_055a, 1, 8),
    ];
    assert_eq!(hosts, expected);
    assert_eq!(found.lids.hosts, [10, 4, 14]);
    assert_eq!(found.lids.switches, [6, 3]);
    assert_eq!(subnet.cables(0).collect::<Vec<_>>(), [(6, 1, 3), (10, 1, 1)]);
    assert_eq!(subnet.switches[0].ports.len(), 25);
    assert_eq!(
        (found.rates.name(0, 6), found.rates.name(0, 22), found.rates.name(0, 1)),
        (Some("4xQDR"), Some("4xSDR"), None)
    );
    assert_eq!(found.notes.len(), 2, "{:?}", found.notes);
    assert!(found.notes[1].contains("spare"), "{:?}", found.notes);
}

#[test]
fn what_is_written_is_read_again() {
    let mut found = small();
    let mut text = Vec::new();
    ibnetdiscover::write(&found.subnet, &found.lids, &found.rates, &mut text).unwrap();
    found.notes.clear();
    assert_eq!(ibnetdiscover::read(text.as_slice()), Ok(found));
    for name in ["ecp-8k-dragonfly", "ecp-8k-hyperx"] {
        let mut subnet = Subnet::of(&preset(name).unwrap().build().unwrap());
        subnet.lmc = 2;
        let lids = Lids::sequential(&subnet);
        let mut text = Vec::new();
        ibnetdiscover::write(&subnet, &lids, &Rates::default(), &mut text).unwrap();
        let again = ibnetdiscover::read(text.as_slice()).unwrap();
        assert!(again.subnet == subnet && again.lids == lids, "{name}");
        assert_eq!(again.rates.names, ["4xEDR"]);
    }
}

#[test]
fn every_cut_is_noticed() {
    let lines: Vec<&str> = SMALL.lines().collect();
    // Without its last three lines the file lacks a spare adapter that nobody leads to.
    for end in 1..lines.len() - 3 {
        let text = lines[..end].join("\n");
        let mistakes = refused(&text);
        assert!(mistakes.list.iter().all(|m| !m.reason.is_empty()), "{end}");
    }
    for gone in 9..lines.len() - 3 {
        let mut text = lines.clone();
        let line = text.remove(gone);
        let told = line.starts_with('[') || line.starts_with("Switch") || line.starts_with("Ca");
        assert_eq!(
            ibnetdiscover::read(text.join("\n").as_bytes()).is_err(),
            told,
            "line {}: {line}",
            gone + 1
        );
        text.insert(gone, line);
        text.insert(gone, line);
        assert_eq!(
            ibnetdiscover::read(text.join("\n").as_bytes()).is_err(),
            told,
            "line {} twice",
            gone + 1
        );
    }
}

#[test]
fn contradictions_are_told_with_their_lines() {
    for (from, to, line, words) in [
        (
            "[6]\t\"S-0008f10400410015\"[3]",
            "[6]\t\"S-0008f10400410015\"[4]",
            13,
            "no cable",
        ),
        (
            "[6]\t\"S-0008f10400410015\"[3]",
            "[6]\t\"S-0008f10400410015\"[1]",
            13,
            "line 21 says",
        ),
        (
            "[3]\t\"S-005442ba00003080\"[6]\t\t# \"leaf one\" lid 6 4xQDR",
            "[3]\t\"S-005442ba00003080\"[6]\t\t# \"leaf one\" lid 6 4xEDR",
            13,
            "4xQDR",
        ),
        (
            "# \"alpha HCA-1\" lid 4",
            "# \"alpha HCA-1\" lid 5",
            11,
            "LID 5 here and 4 in line 30",
        ),
        ("[1](8f10403961355)", "[1](8f10403961356)", 11, "8f10403961355"),
        ("lid 14 lmc 1", "lid 14 lmc 0", 35, "LMC 0 here and 1"),
        ("lid 3 lmc 0", "lid 5 lmc 0", 12, "LID 3 here and 5 in line 20"),
        ("[12]\t\"H-", "[25]\t\"H-", 14, "port 25 of a node with 24 ports"),
        ("[12]\t\"H-", "[10]\t\"H-", 14, "line 12 already"),
        ("Switch\t8", "Rt\t8", 20, "identifier"),
        ("[8]\t", "[8]\t\"H-", 23, ""),
        (
            "vendid=0x2c9",
            "ibwarn: [1] mad_rpc: failed",
            25,
            "not a line of ibnetdiscover",
        ),
        ("caguid=0xbb", "caguid=0xbc", 42, "00000000000000bc in line 41"),
        ("H-00000000000000bb", "H-00000000000000aa", 42, "line 38 already"),
    ] {
        let text = SMALL.replacen(from, to, 1);
        assert_ne!(text, SMALL, "{from}");
        let mistakes = refused(&text);
        let told = mistakes.list.iter().any(|m| m.line == line && m.reason.contains(words));
        assert!(told, "{from} -> {to}: {mistakes}");
    }
    let router = format!("{SMALL}\nrtguid=0xcc\nRt\t2 \"R-00000000000000cc\"\t\t# \"way out\"\n");
    assert!(refused(&router).list[0].reason.contains("router between subnets"));
    let lids = SMALL.replace("lid 14", "lid 11");
    assert!(
        refused(&lids).list.iter().any(|m| m.reason.contains("multiple of 2")),
        "{}",
        refused(&lids)
    );
    let lids = SMALL.replace("lid 14", "lid 4");
    assert!(
        refused(&lids).list.iter().any(|m| m.reason.contains("both have LID 4")),
        "{}",
        refused(&lids)
    );
    assert!(refused("\x1f\u{8b}").list[0].reason.contains("not a line"));
    assert!(refused("").list[0].reason.contains("no switch"));
    assert!(refused(&"x\n".repeat(50)).more == 30);
    let two_adapters = "caguid=0x1\nCa\t1 \"H-01\"\t# \"a\"\n[1](2) \"H-03\"[1](4) # lid 1 lmc 0 \"b\" lid 2 4xSDR\n\ncaguid=0x3\n\
                        Ca\t1 \"H-03\"\t# \"b\"\n[1](4) \"H-01\"[1](2) # lid 2 lmc 0 \"a\" lid 1 4xSDR\n";
    let mistakes = refused(two_adapters);
    assert!(
        mistakes.list.iter().any(|m| m.reason.contains("another adapter")),
        "{mistakes}"
    );
}

/// Fewest hops by the lowest port: any sound tables.
fn lowest_port(subnet: &Subnet) -> Tables {
    let mut tables = Tables::empty(subnet);
    let n = subnet.switches.len();
    for home in 0..n as u32 {
        let (mut way, mut queue) = (vec![0u16; n], VecDeque::from([home]));
        while let Some(at) = queue.pop_front() {
            for (_, peer, back) in subnet.cables(at) {
                if peer != home && way[peer as usize] == 0 {
                    way[peer as usize] = back;
                    queue.push_back(peer);
                }
            }
        }
        for (h, host) in subnet.hosts.iter().enumerate().filter(|(_, host)| host.switch == home) {
            for path in 0..subnet.paths() as usize {
                for (s, &port) in way.iter().enumerate() {
                    let port = if s as u32 == home { host.port } else { port };
                    tables.ports[s * subnet.n_addresses() as usize + (h << subnet.lmc) + path] = port;
                }
            }
        }
    }
    tables
}

fn dump(found: &Discovered, tables: &Tables) -> String {
    let mut text = Vec::new();
    lft::write(&found.subnet, &found.lids, tables, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn forwarding_tables_are_written_and_read_in_both_forms() {
    let found = small();
    let tables = lowest_port(&found.subnet);
    let text = dump(&found, &tables);
    assert!(
        text.starts_with("Unicast lids [0x0-0xf] of switch Lid 6 guid 0x005442ba00003080 (leaf one):\n"),
        "{text}"
    );
    assert!(
        text.contains("\n0x0003 006 : (Switch portguid 0x0008f10400410015: 'leaf two')\n"),
        "{text}"
    );
    assert!(
        text.contains("\n0x0005 022 : (Channel Adapter portguid 0x0008f10403961355: 'alpha HCA-1')\n"),
        "{text}"
    );
    let read = lft::read(text.as_bytes(), &found.subnet, &found.lids).unwrap();
    assert_eq!((&read.tables, read.notes.len()), (&tables, 0));
    // The form of OpenSM's own dump, with LIDs that no host has.
    let opensm: String = text
        .lines()
        .filter(|line| !line.starts_with("  Lid") && !line.starts_with("       Port"))
        .map(|line| {
            let line = line
                .replace("[0x0-0xf]", "[0-15]")
                .replace(" : (", " # ")
                .replace("')", "'");
            if line.contains("valid") {
                "0x000f 255 # unknown node and type\n15 lids dumped\n".into()
            } else {
                line + "\n"
            }
        })
        .collect();
    let opensm = opensm.replace("0x000f 255", "0x0001 007");
    let read = lft::read(opensm.as_bytes(), &found.subnet, &found.lids).unwrap();
    assert_eq!(read.tables, tables);
    assert!(
        read.notes[0].contains("2 entries of LIDs that nobody has"),
        "{:?}",
        read.notes
    );
    let bare: String = text
        .lines()
        .map(|line| format!("{}\n", line.split(" : (").next().unwrap()))
        .collect();
    assert_eq!(
        lft::read(bare.as_bytes(), &found.subnet, &found.lids).unwrap().tables,
        tables
    );
}

#[test]
fn forwarding_tables_of_another_fabric_and_cut_ones_are_refused() {
    let found = small();
    let text = dump(&found, &lowest_port(&found.subnet));
    let mistakes = |text: &str| lft::read(text.as_bytes(), &found.subnet, &found.lids).unwrap_err();
    for (from, to, words) in [
        (
            "guid 0x005442ba00003080 (",
            "guid 0x005442ba00003081 (",
            "no switch of the fabric has guid",
        ),
        (
            "portguid 0x0008f10403961355",
            "portguid 0x0008f10403961356",
            "0x0008f10403961355 in the fabric",
        ),
        ("0x0004 022", "0x0004 021", "nothing is plugged in"),
        ("0x0004 022", "0x0004 xyz", "no LID with a port"),
        ("0x0005 022", "0x0004 022", "twice"),
        ("8 valid lids", "9 valid lids", "does not fit"),
        ("0xf]", "0xe]", "beyond the 14"),
        ("  Lid  Out", "ibwarn", "no line of"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        let mistakes = mistakes(&changed);
        assert!(
            mistakes
                .list
                .iter()
                .any(|m| m.reason.contains(words) && (m.line > 0 || !m.reason.is_empty())),
            "{from}: {mistakes}"
        );
    }
    let lines: Vec<&str> = text.lines().collect();
    for end in 0..lines.len() - 1 {
        mistakes(&lines[..end].join("\n"));
    }
    let twice = format!("{text}{text}");
    assert!(mistakes(&twice).list[0].reason.contains("already"));
    let mut without = found.clone();
    without.lids.hosts = vec![0; 3];
    let error = lft::read(text.as_bytes(), &without.subnet, &without.lids).unwrap_err();
    assert!(error.list[0].reason.contains("no LID yet"), "{error}");
}

#[test]
fn service_levels_are_written_and_read() {
    let found = small();
    let mut tables = lowest_port(&found.subnet);
    let n = tables.n_addresses;
    tables.lanes = (0..2 * n).map(|i| (i % 3) as u8).collect();
    tables.n_lanes = 3;
    let mut text = Vec::new();
    lft::write_levels(&found.subnet, &found.lids, &tables, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with(
        "Channel Adapter 0x0008f10403960559, base LID 10, \"beta/1\", port 1\n# LID  : SL : MTU : RATE\n"
    ));
    let read = |text: &str| {
        let mut again = lowest_port(&found.subnet);
        lft::read_levels(text.as_bytes(), &found.subnet, &found.lids, &mut again).map(|notes| (again, notes))
    };
    assert_eq!(read(&text), Ok((tables.clone(), vec![])));
    // A switch's own records and what cannot be reached change nothing.
    let more = format!("{text}Switch 0x005442ba00003080, base LID 6, \"leaf one\", port 0\n0x0004 : 7  : 4   : 7   \n");
    assert_eq!(
        read(&more.replacen("# LID", "0x0003 : UNREACHABLE\n# LID", 1))
            .unwrap()
            .0,
        tables
    );
    // Another level from another host of the same switch: the lowest counts.
    let several = text.replacen("0x000A : 0 ", "0x000A : 2 ", 1);
    assert_ne!(several, text);
    let (again, notes) = read(&several).unwrap();
    assert_eq!(again, tables);
    assert!(notes[0].starts_with("1 pairs"), "{notes:?}");
    assert!(read(&text.replacen("0008f10403960559", "0008f10403960550", 1)).is_err());
    assert!(
        read(&text.replacen(": 0 ", ": 16 ", 1)).unwrap_err().list[0]
            .reason
            .contains("service level")
    );
    assert!(read("0x0004 : 1 : 4 : 7").is_err());
    assert!(read("").unwrap_err().list[0].reason.contains("3 hosts have no records"));
}

#[test]
fn compact_tables_belong_to_their_subnet() {
    let found = small();
    let mut tables = lowest_port(&found.subnet);
    tables.lanes = vec![1; tables.ports.len()];
    tables.n_lanes = 2;
    let mut bytes = Vec::new();
    compact::write(&found.subnet, "updn", &tables, &mut bytes).unwrap();
    let read = compact::read(&bytes, &found.subnet).unwrap();
    assert_eq!((read.engine.as_str(), &read.tables), ("updn", &tables));
    for cut in 0..bytes.len() {
        assert!(compact::read(&bytes[..cut], &found.subnet).is_err(), "{cut}");
    }
    let header = bytes.windows(2).position(|pair| pair == b"\n\n").unwrap();
    for place in header + 2..bytes.len() {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        assert!(compact::read(&changed, &found.subnet).is_err(), "{place}");
    }
    let mut other = found.subnet.clone();
    other.hosts[0].guid += 1;
    assert!(
        compact::read(&bytes, &other).unwrap_err().list[0]
            .reason
            .contains("another fabric")
    );
    let old = String::from_utf8_lossy(&bytes)
        .replacen("tables 1", "tables 2", 1)
        .into_bytes();
    assert!(
        compact::read(&old, &found.subnet).unwrap_err().list[0]
            .reason
            .contains("reads `fabricsim tables 1`")
    );
    // Names are not part of a subnet's digest, cables and LMC are.
    let mut renamed = found.subnet.clone();
    renamed.switches[0].name = "another".into();
    assert_eq!(compact::digest(&renamed), compact::digest(&found.subnet));
    let cut = remove(&found.subnet, &[Removal::Cable("leaf one".into(), Some(6))])
        .unwrap()
        .subnet;
    assert_ne!(compact::digest(&cut), compact::digest(&found.subnet));
}

#[test]
fn removals_are_read_from_text() {
    let file = "# broken\nswitch leaf one\ncable leaf two 3  # a cable\n\ncable alpha HCA-1\nrandom 5\nrandom 5 77\n";
    let expected = [
        Removal::Switch("leaf one".into()),
        Removal::Cable("leaf two".into(), Some(3)),
        Removal::Cable("alpha HCA-1".into(), None),
        Removal::Random(5, 1),
        Removal::Random(5, 77),
    ];
    assert_eq!(Removal::parse_file(file).unwrap(), expected);
    let wrong = Removal::parse_file("switch\nrouter a\nrandom x\nrandom 1 2 3\ncable \n").unwrap_err();
    assert_eq!(wrong.list.iter().map(|m| m.line).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
}

#[test]
fn removed_switches_and_cables_are_gone_and_the_rest_is_sound() {
    let found = small();
    let subnet = &found.subnet;
    let one = remove(subnet, &[Removal::Cable("leaf two".into(), Some(3))]).unwrap();
    assert_eq!(one.subnet.verify(), Ok(()));
    assert_eq!(one.subnet.cables(0).count(), 1);
    assert_eq!(one.removed, ["cable leaf two port 3 - leaf one port 6"]);
    let host = remove(subnet, &[Removal::Cable("alpha HCA-1".into(), None)]).unwrap();
    assert_eq!(
        (host.hosts.as_slice(), host.lids(&found.lids).hosts),
        (&[0, 2][..], vec![10, 14])
    );
    assert_eq!(host.subnet.verify(), Ok(()));
    let gone = remove(subnet, &[Removal::Switch("0x0008f10400410015".into())]).unwrap();
    assert_eq!((gone.subnet.n_switches(), gone.subnet.n_hosts()), (1, 2));
    assert_eq!(gone.subnet.verify(), Ok(()));
    let pieces = remove(subnet, &[Removal::Random(2, 1)]).unwrap_err();
    assert!(pieces.list[0].reason.contains("falls into 2 pieces"), "{pieces}");
    assert!(
        pieces.list[1].reason.contains("2 hosts and 1 switches: leaf one"),
        "{pieces}"
    );
    let wrong = [
        Removal::Switch("nobody".into()),
        Removal::Cable("leaf one".into(), Some(1)),
        Removal::Cable("leaf one".into(), None),
        Removal::Cable("nobody".into(), None),
        Removal::Random(3, 1),
    ];
    assert_eq!(remove(subnet, &wrong).unwrap_err().list.len(), 5);
    let mut same = subnet.clone();
    same.switches[1].name = "leaf one".into();
    assert!(
        remove(&same, &[Removal::Switch("leaf one".into())]).unwrap_err().list[0]
            .reason
            .contains("several switches")
    );
}

#[test]
fn random_cables_are_drawn_by_seed() {
    let subnet = Subnet::of(&preset("ecp-8k-hyperx").unwrap().build().unwrap());
    let cables = |subnet: &Subnet| {
        (0..subnet.n_switches())
            .map(|s| subnet.cables(s).count())
            .sum::<usize>()
            / 2
    };
    let cut = |count, seed| remove(&subnet, &[Removal::Random(count, seed)]).unwrap();
    let (a, b) = (cut(20, 1), cut(20, 2));
    assert_eq!((a.subnet.verify(), cables(&a.subnet)), (Ok(()), cables(&subnet) - 20));
    assert_eq!(a, cut(20, 1));
    assert_ne!(a, b);
    assert_eq!(a.removed.len(), 20);
    // More cables with one seed take out those of fewer too.
    assert_eq!(cut(10, 1).removed, a.removed[..10]);
}

#[test]
fn a_real_fabric_is_a_topology() {
    use topo::{GraphFormat, GraphSpec, TopologySpec};
    let spec = TopologySpec::Graph(GraphSpec {
        text: None,
        file: String::new(),
        format: GraphFormat::Ibnetdiscover,
        nodes_per_router: 7,
    });
    let topology = spec.build_with_text(SMALL).unwrap();
    assert_eq!(
        (topology.n_routers(), topology.n_nodes(), topology.diameter()),
        (2, 3, 1)
    );
    assert_eq!(topology.router_name(1), "leaf two");
    assert_eq!(topology.wiring().class_names, ["host", "4xQDR"]);
    // Node numbers are host numbers.
    let subnet = small().subnet;
    let routers: Vec<u32> = (0..3).map(|node| topology.router_of(node)).collect();
    assert_eq!(routers, subnet.hosts.iter().map(|host| host.switch).collect::<Vec<_>>());
    let errors = spec.build_with_text(&SMALL.replace("\"[10]", "\"[11]")).unwrap_err();
    assert!(errors[0].reason.starts_with("line 12: port 10 leads to"), "{errors:?}");
    assert_eq!((errors[0].field.as_str(), errors[0].hint.is_some()), ("file", true));
    // Switches of one name are told apart.
    let same = SMALL.replace("leaf two", "leaf one");
    assert_eq!(
        spec.build_with_text(&same).unwrap().router_name(1),
        "leaf one [0x0008f10400410015]"
    );
}

/// Readers answer whatever a file holds; what they take is sound.
#[test]
fn changed_bytes_never_break_a_reader() {
    let found = small();
    let tables = lowest_port(&found.subnet);
    let forwarding = dump(&found, &tables);
    let mut levels = Vec::new();
    lft::write_levels(&found.subnet, &found.lids, &tables, &mut levels).unwrap();
    let changed = |text: &[u8], place: usize, byte: u8| {
        let mut text = text.to_vec();
        text[place] = byte;
        text
    };
    for byte in *b"9\"[ \nf\xff" {
        for place in 0..SMALL.len() {
            if let Ok(found) = ibnetdiscover::read(changed(SMALL.as_bytes(), place, byte).as_slice()) {
                assert_eq!(found.subnet.verify(), Ok(()), "{place}");
                assert!(found.lids.owners(&found.subnet).len() > 1);
            }
        }
        for place in 0..forwarding.len() {
            let text = changed(forwarding.as_bytes(), place, byte);
            if let Ok(read) = lft::read(text.as_slice(), &found.subnet, &found.lids) {
                assert_eq!(read.tables.ports.len(), tables.ports.len());
            }
        }
        for place in 0..levels.len() {
            let mut tables = tables.clone();
            let text = changed(&levels, place, byte);
            let _ = lft::read_levels(text.as_slice(), &found.subnet, &found.lids, &mut tables);
            assert!(tables.lanes.iter().all(|&lane| lane < tables.n_lanes));
        }
    }
}
