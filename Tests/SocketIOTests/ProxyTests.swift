import SocketIO
import Testing

@Suite struct AddressTests {
    @Test(arguments: [
        ("192.0.2.1", [192, 0, 2, 1]), ("0.0.0.0", [0, 0, 0, 0]), ("255.255.255.255", [255, 255, 255, 255]),
        ("::", [UInt8](repeating: 0, count: 16)), ("::1", [UInt8](repeating: 0, count: 15) + [1]),
        ("2001:db8::1", [0x20, 1, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [1]),
        ("1:2:3:4:5:6:7:8", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]),
        ("1:2:3:4:5:6:192.0.2.1", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 192, 0, 2, 1]),
        ("::ffff:192.0.2.1", [192, 0, 2, 1]), ("1::", [0, 1] + [UInt8](repeating: 0, count: 14)),
    ])
    func addressesAreRead(text: String, bytes: [UInt8]) {
        #expect(IPAddress(text)?.bytes == bytes)
    }

    @Test(arguments: [
        "", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.4 ", "1.2.3.-4", "a.b.c.d", ":", ":::", "1::2::3",
        "12345::",
        "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::g", "fe80::1%eth0", "1:2:3:4:5:6:7:192.0.2.1", "::1.2.3", "1.2.3.4::",
        "[::1]", "unknown", "1:2:3:4:5:6:7:8::", "２.0.0.1",
    ])
    func everythingElseIsNoAddress(text: String) {
        #expect(IPAddress(text) == nil, "\(text)")
    }

    @Test func rangesContainTheirAddresses() throws {
        let net = try #require(AddressRange("10.128.0.0/9"))
        #expect(net.contains(try #require(IPAddress("10.255.1.2"))))
        #expect(!net.contains(try #require(IPAddress("10.127.1.2"))))
        #expect(!net.contains(try #require(IPAddress("::a80:0"))))
        let one = try #require(AddressRange("2001:db8::1"))
        #expect(one.contains(try #require(IPAddress("2001:db8:0::1"))))
        #expect(!one.contains(try #require(IPAddress("2001:db8::2"))))
        let all = try #require(AddressRange("0.0.0.0/0"))
        #expect(all.contains(try #require(IPAddress("203.0.113.9"))))
        for text in ["10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "/8", "10.0.0.0/8/8", "x/8"] {
            #expect(AddressRange(text) == nil, "\(text)")
        }
    }
}

@Suite struct TrustedProxyTests {
    private func client(_ fields: String, source: TrustedProxies.Source = .xForwardedFor) throws -> String? {
        let ranges = try ["10.0.0.0/8", "2001:db8:1::/48"].map { try #require(AddressRange($0)) }
        var parser = HTTPRequestParser(limits: HTTPLimits())
        var offset = 0
        let event = bytes("GET / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n").withUnsafeBytes {
            parser.next($0, at: &offset)
        }
        guard case .head(let head) = event else { return "no head" }
        let address = TrustedProxies(ranges, source: source).client(of: head)
        return address.map { $0.bytes.map(String.init).joined(separator: ".") }
    }

    @Test(arguments: [
        ("X-Forwarded-For: 203.0.113.7\r\n", "203.0.113.7"), ("X-Forwarded-For:203.0.113.7:4711\r\n", "203.0.113.7"),
        // What a stranger writes himself stands before what proxies add.
        ("X-Forwarded-For: 127.0.0.1, 10.1.1.1, 203.0.113.7, 10.0.0.2\r\n", "203.0.113.7"),
        ("X-Forwarded-For: 1.1.1.1\r\nX-Forwarded-For: 203.0.113.7\r\n", "203.0.113.7"),
        ("X-Forwarded-For: nonsense, 203.0.113.7\r\n", "203.0.113.7"),
        ("X-Forwarded-For: 203.0.113.7, nonsense\r\n", nil),
        ("X-Forwarded-For: 203.0.113.7,\r\n", nil), ("X-Forwarded-For: 127.0.0.1\r\n", "127.0.0.1"),
        ("X-Forwarded-For: 10.0.0.9, 10.0.0.8\r\n", "10.0.0.9"), ("", nil), ("Forwarded: for=203.0.113.7\r\n", nil),
    ])
    func theLastStrangerIsTheClient(fields: String, client: String?) throws {
        #expect(try self.client(fields) == client)
    }

    @Test(arguments: [
        ("Forwarded: for=203.0.113.7;proto=https\r\n", "203.0.113.7"),
        ("Forwarded: proto=https; For=\"203.0.113.7:47011\", for=10.0.0.3\r\n", "203.0.113.7"),
        ("Forwarded: for=unknown\r\n", nil), ("Forwarded: by=10.0.0.1\r\n", nil),
        ("X-Forwarded-For: 203.0.113.7\r\n", nil),
    ])
    func forwardedIsReadWhenThatIsTheSource(fields: String, client: String?) throws {
        #expect(try self.client(fields, source: .forwarded) == client)
        #expect(
            try self.client("Forwarded: for=\"[2001:db8::9]:80\"\r\n", source: .forwarded)?.hasPrefix("32.1.") == true)
    }

    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10]

    private func read(_ input: [UInt8], piece: Int) -> (ProxyHeaderReader.Outcome, Int) {
        var reader = ProxyHeaderReader()
        var read = 0
        for start in stride(from: 0, to: input.count, by: piece) {
            let part = Array(input[start..<min(start + piece, input.count)])
            var offset = 0
            let outcome = part.withUnsafeBytes { reader.next($0, at: &offset) }
            read += offset
            if outcome != .incomplete { return (outcome, read) }
        }
        return (.incomplete, read)
    }

    @Test(arguments: [1, 3, 5, 1000])
    func proxyHeadersNameTheirClient(piece: Int) throws {
        let v4: [UInt8] = Self.signature + [0x21, 0x11, 0, 12, 203, 0, 113, 7, 10, 0, 0, 1, 0x12, 0x34, 0, 80]
        #expect(
            self.read(v4 + bytes("GET"), piece: piece) == (.client(try #require(IPAddress("203.0.113.7"))), v4.count))
        let v6 =
            Self.signature + [0x21, 0x21, 0, 39] + [0x20, 1] + [UInt8](repeating: 0, count: 30) + [0, 1, 0, 2, 4, 0, 0]
        #expect(self.read(v6, piece: piece) == (.client(try #require(IPAddress("2001::"))), v6.count))
        let check = Self.signature + [0x20, 0x00, 0, 0]
        #expect(self.read(check + bytes("GET"), piece: piece) == (.local, check.count))
        #expect(self.read(v4.dropLast(), piece: piece).0 == .incomplete)
    }

    @Test func anythingElseIsMalformed() {
        let malformed: [[UInt8]] = [
            bytes("GET / HTTP/1.1\r\n"), bytes("PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\n"), Self.signature + [0x11],
            Self.signature + [0x21, 0x11, 0xFF, 0xFF], Self.signature + [0x21, 0x11, 0, 4, 1, 2, 3, 4],
        ]
        for input in malformed { #expect(self.read(input, piece: 7).0 == .malformed, "\(input)") }
    }
}
