import Testing

@testable import Mesh

struct EndpointTests {
    @Test(arguments: [
        "ipc:///run/touchsync/a.sock", "tcp://127.0.0.1:7401", "tcp://committer-0.local:1", "tcp://[::1]:65535",
        "tcp://[fe80::1%eth0]:80",
    ])
    func goodOnesReadBack(text: String) throws {
        let endpoint = try Endpoint(text)
        #expect(endpoint.description == text)
        #expect(try Endpoint(endpoint.description) == endpoint)
        #expect(endpoint.isConnectable)
    }

    @Test(arguments: [
        "", "ipc://", "ipc://relative", "ipc:///dir/", "ipc:///a\0b", "tcp://", "tcp://host", "tcp://host:",
        "tcp://host:65536",
        "tcp://host:-1", "tcp://host:+1", "tcp://host: 1", "tcp://host:1x", "tcp://:80", "tcp://*:80", "tcp://a b:80",
        "tcp://::1:80",
        "tcp://[host]:80", "tcp://[]:80", "udp://h:1", "inproc://x", "TCP://h:1", "tcp://host;10.0.0.1:80", "tcp://h:٣",
        "tcp://" + String(repeating: "h", count: 254) + ":1",
    ])
    func badOnesAreRefused(text: String) {
        #expect { try Endpoint(text) } throws: { ($0 as? MeshError)?.code == .invalidEndpoint }
    }

    @Test func pathsFitIntoASocketAddress() throws {
        let longest = "/" + String(repeating: "p", count: 106)
        #expect(try Endpoint("ipc://" + longest).description.utf8.count == 6 + 107)
        #expect(throws: MeshError.self) { try Endpoint("ipc://" + longest + "p") }
    }

    @Test func localhostIsItsAddress() throws {
        #expect(try Endpoint("tcp://localhost:80").description == "tcp://127.0.0.1:80")
        #expect(try !Endpoint("tcp://localhost:0").isConnectable)
    }
}
