import Foundation
import NIOCore
import NIOPosix
import SocketIO
import SocketIOServer
import Testing

// The example of Shared/SocketIO/README.md, line by line; only the port is a free one.
final class Echo: SocketIOApplication {
    func connect(_ socket: SocketIOSocket, _ request: ConnectRequest) { socket.accept() }
    func event(_ socket: SocketIOSocket, ackID: UInt64?, json: UnsafeRawBufferPointer) {
        if let ackID { socket.acknowledge(ackID, json) } else { socket.emit(json) }
    }
}

@Suite struct ReadmeExampleTests {
    @Test func itServes() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let server = SocketIOServer(eventLoop: loop, routes: [.socketIO(Echo())])
        let address = try await server.start(host: "127.0.0.1", port: 0)
        let client = try RawClient(port: try #require(address.port))
        defer { client.close() }
        client.send(RawClient.upgrade("/socket.io/?EIO=4&transport=websocket"))
        #expect(try client.head().hasPrefix("HTTP/1.1 101"))
        #expect(try client.message().hasPrefix("0{"))
        client.sendText("40")
        #expect(try client.message().hasPrefix("40{"))
        client.sendText(#"42["hello"]"#)
        #expect(try client.message() == #"42["hello"]"#)
        client.sendText(#"427["hello"]"#)
        #expect(try client.message() == #"437["hello"]"#)
    }

    @Test func thePageShowsWhatIsTestedHere() throws {
        let file = URL(filePath: #filePath)
        let root = file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "Shared/SocketIO/README.md"), encoding: .utf8)
        let block = try #require(page.components(separatedBy: "```swift\n").dropFirst().first)
        let example = try #require(block.components(separatedBy: "```").first)
        let source = Set(try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(Self.trimmed))
        for line in example.replacing("port: 3000", with: "port: 0").split(separator: "\n") {
            #expect(source.contains(Self.trimmed(line)), "not tested: \(line)")
        }
    }

    private static func trimmed(_ line: Substring) -> String { line.trimmingCharacters(in: .whitespaces) }
}
