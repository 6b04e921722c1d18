import Testing

@testable import Boot

@Suite struct InstanceSourceTests {
    private func source(_ text: String) throws -> InstanceSource {
        try #require(try InstanceSource(.text(text)))
    }

    @Test func aSettingNamesAListAFileOrAName() throws {
        #expect(try self.source("file:///etc/x.json") == .file("/etc/x.json"))
        #expect(
            try self.source("dns://fan-out_1.svc:7300")
                == .name(DNSName(host: "fan-out_1.svc", records: .addresses(port: 7300))))
        #expect(try self.source("srv://_fanout._tcp.h") == .name(DNSName(host: "_fanout._tcp.h", records: .services)))
        #expect(try self.source("a=ipc:///x") == .list([PeerAddress(name: "a", endpoint: "ipc:///x")]))
        for text in ["file:///etc/x.json", "dns://h:1", "srv://h", "a=ipc:///x,b=tcp://h:2"] {
            #expect(try self.source(text).text == text)
        }
    }

    @Test(arguments: [
        "dns://h", "dns://:1", "dns://h:0", "dns://h:65536", "dns://h/x:1", "dns://[::1]:1", "srv://", "srv://h:1",
        "srv://h/x", "file://h/x",
    ])
    func whatIsNoSourceIsRefused(_ text: String) {
        #expect(throws: SettingRefusal.self) { try self.source(text) }
    }

    @Test func anInstanceThatDNSKnowsGoesByItsAddress() {
        let peer = PeerAddress(DNSInstance(address: "fd00::1", port: 7300))
        #expect(peer == PeerAddress(name: "fd00--1", endpoint: "tcp://[fd00::1]:7300"))
        #expect(PeerAddress(DNSInstance(address: "10.0.0.5", port: 7300)).description == "10.0.0.5=tcp://10.0.0.5:7300")
    }

    @Test func aNameNeedsLinkKeys() {
        let name = InstanceSource.name(DNSName(host: "h", records: .services))
        #expect(throws: SettingRefusal.self) { try InstanceList(name, member: "fanouts", isPlain: true) }
        #expect(throws: Never.self) { try InstanceList(name, member: "fanouts", isPlain: false) }
    }

    // MARK: Files

    private func parse(_ text: String, isPlain: Bool = false) throws(SettingRefusal) -> [PeerAddress] {
        let list = try InstanceList(.list([]), member: "fanouts", isPlain: isPlain)
        return try list.parse(.success(Array(text.utf8)))
    }

    private static let file = """
        {
          "committers": ["c-1=tcp://10.0.0.3:7200"],
          "fanouts": ["f-1=tcp://10.0.0.4:7300",
                      "f-2=ipc:///run/f-2.sock"]
        }
        """

    @Test func aFileListsTheInstancesOfEachStage() throws {
        #expect(try self.parse(Self.file).map(\.name) == ["f-1", "f-2"])
        #expect(throws: SettingRefusal.self) { try self.parse(Self.file, isPlain: true) }
    }

    /// A file that is being written in place is never taken for one with fewer instances.
    @Test func noPartOfAFileIsAFile() {
        for count in 0..<Self.file.utf8.count {
            #expect(throws: SettingRefusal.self) { try self.parse(String(Self.file.prefix(count))) }
        }
    }

    @Test(arguments: [
        ("", "is empty"), ("[]", "must be one JSON object"), ("{}", "has no member \"fanouts\""),
        ("{\n\"fanout\":[]}", "line 2: has no member \"fanout\"; allowed are coalescers, committers, fanouts"),
        ("{\"fanouts\":\n[]}", "line 2: fanouts must be an array of 1 to 1000 texts of the form name=endpoint"),
        ("{\"fanouts\":[\"a=ipc:///a\",\n7]}", "line 2: fanouts must contain texts of the form name=endpoint"),
        ("{\"fanouts\":[\"a=ipc:///a\",\n\"a=ipc:///b\"]}", "line 2: fanouts has the name \"a\" twice"),
        ("{\n\n\"fanouts\":[\"a\"]}", "line 3: fanouts: \"a\" is not of the form name=endpoint"),
    ])
    func aFileThatIsWrongIsRefusedWithItsLine(_ text: String, _ reason: String) {
        do throws(SettingRefusal) {
            _ = try self.parse(text)
            Issue.record("accepted")
        } catch {
            #expect(error.reason == reason)
        }
    }

    // MARK: Names

    @Test func theSystemsResolverIsAsked() throws {
        for host in ["127.0.0.1", "localhost"] {
            let found = try NameLookup.instances(of: DNSName(host: host, records: .addresses(port: 7))).get()
            #expect(found == [DNSInstance(name: "127.0.0.1", address: "127.0.0.1", port: 7)])
        }
        // RFC 6761: it never has a record.
        for records in [DNSName.Records.addresses(port: 7), .services] {
            let name = DNSName(host: "touchsync.invalid", records: records)
            #expect(throws: SettingRefusal.self) { try NameLookup.instances(of: name).get() }
        }
    }
}
