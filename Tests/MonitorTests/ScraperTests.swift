import Glibc
import NIOCore
import NIOPosix
import PipelineTestKit
import Stages
import Testing
import Timing

@testable import Boot
@testable import OperatorMonitor

/// The scraper against servers that answer, answer nonsense, say nothing, and are not there.
@Suite(.timeLimit(.minutes(1))) struct ScraperTests {
    private static let token = "0123456789abcdef0123456789abcdef"

    /// A list of daemons in a file of its own.
    private final class ListFile: Sendable {
        let path: String

        init() throws {
            var template = Array("/tmp/touchsync-scraping-XXXXXX".utf8CString)
            let descriptor = mkstemp(&template)
            try #require(descriptor >= 0)
            close(descriptor)
            self.path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }

        deinit { unlink(self.path) }

        func list(_ ports: [Int?]) {
            let processes = ports.enumerated().map { index, port in
                let http = port.map { "\"http://127.0.0.1:\($0)\"" } ?? "null"
                let pid = port == nil ? "null" : "1"
                return #"{"stage":"gateway","name":"gateway-\#(index + 1)","pid":\#(pid),"http":\#(http)}"#
            }
            let text = "{\"processes\":[\(processes.joined(separator: ","))]}"
            #expect(FileBytes.replace(self.path, with: Array(text.utf8)) == nil)
        }
    }

    /// A server that sends each connection some bytes, and then says nothing more.
    private func server(saying text: String) async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    private func port(of channel: any Channel) throws -> Int { try #require(channel.localAddress?.port) }

    /// Runs a daemon's admin server and a scraper for the length of a block.
    private func scraping(
        _ context: DaemonContext, _ file: ListFile, presenting token: String? = Self.token,
        _ body: @Sendable (_ daemon: Int, _ scraper: Scraper) async throws -> Void
    ) async throws {
        let (ports, bound) = AsyncStream.makeStream(of: Int.self)
        let server = AdminServer(
            host: "127.0.0.1", port: 0, pages: context.pages, access: OperatorAccess(token: Self.token),
            metrics: context.metrics
        ) { url in
            bound.yield(AdminAddress(url)?.port ?? 0)
            bound.finish()
        }
        let lookups = LookupPace(pause: .seconds(1), patience: .seconds(2))
        let scraper = Scraper(.file(file.path), lookups: lookups, operatorToken: token)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            var daemon: Int?
            for await port in ports { daemon = port }
            group.addTask { try await scraper.run() }
            try await body(try #require(daemon), scraper)
            group.cancelAll()
        }
    }

    @Test func eachAnswerIsWhatItIs() async throws {
        let context = DaemonContext.quiet(name: "gateway-1")
        context.health.serve()
        context.metrics.gauge("touchsync_gateway_connections", "Apps.").set(7)
        context.metrics.gauge("touchsync_build_info", "What runs.", labels: BuildInfo.labels).set(1)
        let silent = try await self.server(saying: "")
        let foreign = try await self.server(saying: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".repeated(3))
        let endless = try await self.server(
            saying: "HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n".filled(2 << 20))
        let mail = try await self.server(saying: "220 mail ready\r\n")
        let gone = try await self.server(saying: "")
        let ports = try [silent, foreign, endless, mail, gone].map { try self.port(of: $0) }
        try await gone.close().get()
        let file = try ListFile()
        try await self.scraping(context, file) { daemon, scraper in
            file.list([daemon] + ports + [nil])
            let expected: [InstanceCondition] = [
                .ready, .silent, .garbled, .garbled, .garbled, .unreachable, .stopped,
            ]
            try await eventually("all are judged") {
                scraper.history[.gateway].instances.map(\.condition) == expected
            }
            let first = scraper.history[.gateway].instances[0]
            #expect(first.figures[.connections] == 7 && first.sample?.version == BuildInfo.version)
        }
        for channel in [silent, foreign, endless, mail] { try await channel.close().get() }
    }

    @Test func aDaemonThatComesBackAtAnotherPortIsFoundThere() async throws {
        let context = DaemonContext.quiet(name: "gateway-1")
        context.health.serve()
        context.metrics.gauge("touchsync_gateway_connections", "Apps.").set(7)
        context.metrics.gauge("touchsync_build_info", "What runs.", labels: BuildInfo.labels).set(1)
        let former = try await self.server(saying: "220 mail ready\r\n")
        let port = try self.port(of: former)
        let file = try ListFile()
        try await self.scraping(context, file) { daemon, scraper in
            for (port, condition) in [(port, InstanceCondition.garbled), (daemon, .ready)] {
                file.list([port])
                try await eventually("it is \(condition)") {
                    scraper.history[.gateway].instances.map(\.condition) == [condition]
                }
            }
        }
        try await former.close().get()
    }

    @Test func aListThatBreaksLeavesTheOneBefore() async throws {
        let context = DaemonContext.quiet(name: "gateway-1")
        let file = try ListFile()
        try await self.scraping(context, file) { daemon, scraper in
            try await eventually("the empty file is refused") { scraper.listRefusal == "is not a list of daemons" }
            file.list([daemon])
            try await eventually("the daemon is listed") { scraper.daemons.map(\.name) == ["gateway-1"] }
            #expect(scraper.listRefusal == nil)
            unlink(file.path)
            try await eventually("the file is missed") { scraper.listRefusal == "does not exist" }
            #expect(scraper.daemons.count == 1)
        }
    }

    @Test(arguments: [nil, "another token of thirty-two bytes"])
    func aDaemonThatAsksForAnotherTokenSaysSo(_ presented: String?) async throws {
        let context = DaemonContext.quiet(name: "gateway-1")
        let file = try ListFile()
        try await self.scraping(context, file, presenting: presented) { daemon, scraper in
            file.list([daemon])
            try await eventually("it is named") {
                let found = scraper.history.findings.first
                return found?.reason.contains("asks for the operator's token") == true
            }
        }
    }
}

extension String {
    fileprivate func repeated(_ count: Int) -> String { String(repeating: self, count: count) }

    fileprivate func filled(_ count: Int) -> String { self + String(repeating: "x", count: count) }
}
