//! The lines of `ibnetdiscover`'s output, one at a time.

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeviceKind {
    Switch,
    Adapter,
    Router,
}

impl DeviceKind {
    fn of_letter(letter: &str) -> Result<Self, String> {
        match letter {
            "S" => Ok(DeviceKind::Switch),
            "H" => Ok(DeviceKind::Adapter),
            "R" => Ok(DeviceKind::Router),
            _ => Err(format!("a node's identifier starts with S-, H- or R-, not `{letter}-`")),
        }
    }

    pub(super) fn letter(self) -> char {
        match self {
            DeviceKind::Switch => 'S',
            DeviceKind::Adapter => 'H',
            DeviceKind::Router => 'R',
        }
    }
}

/// First line of a node's block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub kind: DeviceKind,
    pub guid: u64,
    pub ports: u16,
    pub name: String,
    /// LID of a switch's port 0.
    pub lid: Option<u32>,
}

/// A port with its far end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListedPort {
    pub number: u16,
    /// Of an adapter's own port.
    pub guid: Option<u64>,
    pub peer_kind: DeviceKind,
    pub peer_guid: u64,
    pub peer_port: u16,
    /// Of an adapter's port at the far end.
    pub peer_port_guid: Option<u64>,
    /// LID and LMC of an adapter's own port.
    pub lid: Option<(u32, u8)>,
    pub peer_lid: Option<u32>,
    /// Width and speed, such as `4xEDR`.
    pub rate: Option<String>,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ListingLine {
    /// Comments, blank lines, headings of groups.
    Nothing,
    /// `vendid=`, `devid=`, `sysimgguid=`.
    Detail,
    /// `switchguid=`, `caguid=`, `rtguid=`.
    Guid(u64),
    Head(Head),
    Port(ListedPort),
}

/// Reads a line; `Err` says what does not belong there.
pub(super) fn read(line: &str) -> Result<ListingLine, String> {
    let line = line.trim();
    let word = line.split_whitespace().next().unwrap_or("");
    match word {
        "" | "Non-Chassis" | "Chassis" => return Ok(ListingLine::Nothing),
        "Switch" => return head(DeviceKind::Switch, line),
        "Ca" => return head(DeviceKind::Adapter, line),
        "Rt" => return head(DeviceKind::Router, line),
        _ if word.starts_with('#') => return Ok(ListingLine::Nothing),
        _ if word.starts_with('[') => return port(line).map(ListingLine::Port),
        _ => {}
    }
    match word.split_once('=') {
        Some(("vendid" | "devid" | "sysimgguid", value)) => hex(value).map(|_| ListingLine::Detail),
        // A switch has the GUID of its port 0 in brackets behind its own.
        Some(("switchguid" | "caguid" | "rtguid", value)) => {
            hex(value.split('(').next().unwrap_or("")).map(ListingLine::Guid)
        }
        _ => Err("this is not a line of ibnetdiscover".into()),
    }
}

/// What is left of a line while it is read.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn blank(&mut self) {
        self.0 = self.0.trim_start();
    }

    fn take(&mut self, what: char) -> Result<(), String> {
        match self.0.strip_prefix(what) {
            Some(rest) => {
                self.0 = rest;
                Ok(())
            }
            None => Err(self.missing(&format!("`{what}`"))),
        }
    }

    fn missing(&self, what: &str) -> String {
        match self.0.chars().take(12).collect::<String>() {
            empty if empty.trim().is_empty() => format!("the line ends where {what} should be"),
            here => format!("{what} should be where `{here}` is"),
        }
    }

    /// Up to and without a character that must come.
    fn until(&mut self, what: char) -> Result<&'a str, String> {
        let (before, rest) = self
            .0
            .split_once(what)
            .ok_or_else(|| format!("the line ends before `{what}`"))?;
        self.0 = rest;
        Ok(before)
    }

    /// `[7]`, with the label on the box behind it (`[ext 12]`) if there is one.
    fn port(&mut self) -> Result<u16, String> {
        self.take('[')?;
        let text = self.until(']')?;
        let number = text
            .parse()
            .ok()
            .filter(|&number| (1..=254).contains(&number))
            .ok_or_else(|| format!("`{text}` is not a port number from 1 to 254"))?;
        if self.0.starts_with('[') {
            self.take('[')?;
            self.until(']')?;
        }
        Ok(number)
    }

    /// `(2c903000e0b72)` if it is there.
    fn port_guid(&mut self) -> Result<Option<u64>, String> {
        match self.0.starts_with('(') {
            true => {
                self.take('(')?;
                self.until(')').and_then(hex).map(Some)
            }
            false => Ok(None),
        }
    }

    /// `"S-0002c90200404780"`.
    fn node(&mut self) -> Result<(DeviceKind, u64), String> {
        self.take('"')?;
        let text = self.until('"')?;
        let (letter, guid) = text
            .split_once('-')
            .ok_or_else(|| format!("`{text}` is not a node's identifier such as S-0002c90200404780"))?;
        Ok((DeviceKind::of_letter(letter)?, hex(guid)?))
    }

    /// `"name"` up to the last quotation mark of the line: names may have some.
    fn name(&mut self) -> Result<String, String> {
        self.blank();
        self.take('"')?;
        let (name, rest) = self
            .0
            .rsplit_once('"')
            .ok_or("the line ends within a name: its closing quotation mark is missing")?;
        self.0 = rest;
        Ok(name.to_owned())
    }

    /// The number behind a word that must come.
    fn number(&mut self, word: &str, most: u32) -> Result<u32, String> {
        self.blank();
        let rest = self
            .0
            .strip_prefix(word)
            .ok_or_else(|| self.missing(&format!("`{word}`")))?;
        let rest = rest.trim_start();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (text, rest) = rest.split_at(digits);
        self.0 = rest;
        text.parse()
            .ok()
            .filter(|&number| number <= most)
            .ok_or_else(|| format!("behind `{word}` there should be a number from 0 to {most}"))
    }
}

fn hex(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u64::from_str_radix(digits, 16).map_err(|_| format!("`{text}` is not a number in hexadecimal digits"))
}

const MOST_LID: u32 = super::HIGHEST_LID;

fn head(kind: DeviceKind, line: &str) -> Result<ListingLine, String> {
    let mut rest = Rest(line.trim_start_matches(|c: char| !c.is_whitespace()));
    let ports = rest.number("", 254)? as u16;
    rest.blank();
    let (letter, guid) = rest.node()?;
    if letter != kind {
        return Err(format!(
            "the identifier of this node should start with `{}-`",
            kind.letter()
        ));
    }
    rest.blank();
    rest.take('#')?;
    let name = rest.name()?;
    let mut lid = None;
    if kind == DeviceKind::Switch {
        rest.blank();
        rest.0 = (rest.0.strip_prefix("base"))
            .or_else(|| rest.0.strip_prefix("enhanced"))
            .ok_or_else(|| rest.missing("`base port 0` or `enhanced port 0`"))?;
        rest.number("port", 0)?;
        lid = Some(rest.number("lid", MOST_LID)?);
        rest.number("lmc", 7)?;
    }
    Ok(ListingLine::Head(Head {
        kind,
        guid,
        ports,
        name,
        lid,
    }))
}

fn port(line: &str) -> Result<ListedPort, String> {
    let mut rest = Rest(line);
    let number = rest.port()?;
    let guid = rest.port_guid()?;
    rest.blank();
    let (peer_kind, peer_guid) = rest.node()?;
    let peer_port = rest.port()?;
    let peer_port_guid = rest.port_guid()?;
    rest.blank();
    rest.take('#')?;
    rest.blank();
    // An adapter tells its own LID and LMC first.
    let lid = match rest.0.starts_with("lid") {
        true => Some((rest.number("lid", MOST_LID)?, rest.number("lmc", 7)? as u8)),
        false => None,
    };
    rest.name()?;
    rest.blank();
    let peer_lid = match rest.0.starts_with("lid") {
        true => Some(rest.number("lid", MOST_LID)?),
        false => None,
    };
    let is_rate = |word: &&str| {
        word.split_once(['x', 'X'])
            .is_some_and(|(width, _)| width.parse::<u8>().is_ok())
    };
    let rate = rest.0.split_whitespace().find(is_rate).map(str::to_owned);
    Ok(ListedPort {
        number,
        guid,
        peer_kind,
        peer_guid,
        peer_port,
        peer_port_guid,
        lid,
        peer_lid,
        rate,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port_of(line: &str) -> ListedPort {
        match read(line) {
            Ok(ListingLine::Port(port)) => port,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn lines_of_all_ages_are_read() {
        let port = port_of("[1]\t\"H-0002c9030005f34a\"[2](2c9030005f34c) \t\t# \"host \\\"1\\\" HCA-1\" lid 4 4xQDR");
        assert_eq!(
            (port.number, port.peer_port, port.peer_kind),
            (1, 2, DeviceKind::Adapter)
        );
        assert_eq!(
            (port.peer_guid, port.peer_port_guid),
            (0x0002_c903_0005_f34a, Some(0x0002_c903_0005_f34c))
        );
        assert_eq!((port.peer_lid, port.rate.as_deref()), (Some(4), Some("4xQDR")));
        // Before rates and port GUIDs were printed.
        let port = port_of("[24]\t\"S-000b8cffff002347\"[1]\t\t# \"node24 HCA-1\" lid 18");
        assert_eq!((port.peer_lid, port.rate, port.peer_port_guid), (Some(18), None, None));
        let port = port_of(
            "[1](5aa)[x]  \"S-01\"[3] # lid 20 lmc 2 \"Switch3\" lid 6 4xEDR s=5"
                .replace("[x]", "")
                .as_str(),
        );
        assert_eq!(
            (port.guid, port.lid, port.peer_lid),
            (Some(0x5aa), Some((20, 2)), Some(6))
        );
        assert_eq!(
            port_of("[3][ext 7] \"S-01\"[4][ext 8] # \"s\" lid 1 4xSDR").peer_port,
            4
        );
        let head = read("Switch\t36 \"S-0002c90200\"\t\t# \"MF0;sw 1:SX/U1\" enhanced port 0 lid 6 lmc 0");
        assert!(matches!(head, Ok(ListingLine::Head(head)) if head.lid == Some(6) && head.name == "MF0;sw 1:SX/U1"));
        assert_eq!(read("switchguid=0x2c90200(2c90201)"), Ok(ListingLine::Guid(0x2c9_0200)));
        for nothing in [
            "",
            "# Topology file",
            "Non-Chassis Nodes",
            "Chassis 1 (guid 0x8f10400410015)",
        ] {
            assert_eq!(read(nothing), Ok(ListingLine::Nothing), "{nothing}");
        }
    }

    #[test]
    fn a_line_cut_anywhere_is_refused_or_loses_only_its_rate() {
        let line = "[10](2c9030005f34b)\t\"S-0002c9020041\"[3]\t\t# lid 20 lmc 0 \"Switch3\" lid 61 4xQDR";
        let whole = port_of(line);
        for end in 1..line.len() {
            if let Ok(ListingLine::Port(port)) = read(&line[..end]) {
                assert_eq!(
                    (port.peer_guid, port.peer_port, port.lid),
                    (whole.peer_guid, whole.peer_port, whole.lid),
                    "{end}"
                );
            }
        }
        assert!(read(&line[..30]).unwrap_err().contains("ends"));
        assert!(read("ibwarn: [5] mad_rpc failed").is_err());
        assert!(read("[0] \"S-01\"[3] # \"s\" lid 1").is_err());
        assert!(read("[1] \"Q-01\"[3] # \"s\" lid 1").is_err());
    }
}
