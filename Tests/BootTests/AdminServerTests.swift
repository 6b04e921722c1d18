import Glibc
import JSONBytes
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testing

@testable import Boot

@Suite(.timeLimit(.minutes(1))) struct AdminServerTests {
    private static let token = "0123456789abcdef0123456789abcdef"
    private static let fields = "Host: 127.0.0.1\r\nAuthorization: Bearer \(token)\r\n"

    /// Runs an admin server on a free port, and stops it.
    private func withServer(
        _ context: DaemonContext, token: String? = Self.token, patience: Duration = .seconds(30),
        _ body: @Sendable (_ port: Int) async throws -> Void
    ) async throws {
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let server = AdminServer(
            host: "127.0.0.1", port: 0, pages: context.pages, access: OperatorAccess(token: token),
            metrics: context.metrics, patience: patience
        ) { url in
            port.yield(Int(url.split(separator: ":").last ?? "") ?? 0)
            port.finish()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            var bound: Int?
            for await number in ports { bound = number }
            try await body(try #require(bound))
            group.cancelAll()
        }
    }

    /// Sends bytes and reads until the server closes.
    private func exchange(_ request: String, port: Int) async throws -> String {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: request))
            var answer = ""
            for try await part in inbound { answer += String(buffer: part) }
            return answer
        }
    }

    private func get(
        _ path: String, port: Int, method: String = "GET", fields: String = Self.fields
    ) async throws -> String {
        try await self.exchange("\(method) \(path) HTTP/1.1\r\n\(fields)Connection: close\r\n\r\n", port: port)
    }

    @Test func allButHealthAsksForTheOperatorsToken() async throws {
        let context = DaemonContext.quiet(name: "x-1")
        context.pages.add("/rooms") { AdminPage(body: "secret".utf8) }
        let host = "Host: localhost\r\n"
        try await self.withServer(context) { port in
            for path in ["/rooms", "/rooms?id=a", "/metrics", "/nothing"] {
                for wrong in ["", "Bearer", "Bearer \(Self.token)x", "Basic \(Self.token)", Self.token] {
                    let field = wrong.isEmpty ? "" : "Authorization: \(wrong)\r\n"
                    let answer = try await self.get(path, port: port, fields: host + field)
                    #expect(answer.hasPrefix("HTTP/1.1 401 ") && answer.contains("WWW-Authenticate: Bearer"))
                    #expect(!answer.contains("secret"), "\(path) \(wrong)")
                }
            }
            let field = "Authorization: Bearer \(Self.token)\r\n"
            #expect(try await self.get("/rooms", port: port, fields: host + field + field).hasPrefix("HTTP/1.1 401 "))
            #expect(try await self.get("/rooms", port: port, fields: host + field).hasSuffix("\r\n\r\nsecret"))
            #expect(try await self.get("/healthz", port: port, fields: host).hasPrefix("HTTP/1.1 200 "))
            #expect(try await self.get("/readyz", port: port, fields: host).hasPrefix("HTTP/1.1 503 "))
            let metrics = try await self.get("/metrics", port: port)
            #expect(metrics.contains("touchsync_admin_refusals_total{reason=\"missing\"} 5\n"))
            #expect(metrics.contains("touchsync_admin_refusals_total{reason=\"wrong\"} 16\n"))
        }
    }

    @Test func aPageOnAnotherNameIsNotAnswered() async throws {
        let context = DaemonContext.quiet(name: "x-1")
        try await self.withServer(context) { port in
            let field = "Authorization: Bearer \(Self.token)\r\n"
            let hosts = ["", "Host: evil.example\r\n", "Host: 127.0.0.1\r\nHost: 127.0.0.1\r\n"]
            for host in hosts {
                for path in ["/metrics", "/readyz"] {
                    let answer = try await self.get(path, port: port, fields: host + field)
                    #expect(answer.hasPrefix("HTTP/1.1 4"), "\(path) \(host)")
                }
            }
            for host in ["localhost:\(port)", "127.0.0.1", "[::1]:9"] {
                let answer = try await self.get("/metrics", port: port, fields: "Host: \(host)\r\n\(field)")
                #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(host)")
            }
        }
    }

    @Test func withoutATokenThereIsOnlyHealth() async throws {
        let context = DaemonContext.quiet(name: "x-1")
        try await self.withServer(context, token: nil) { port in
            let answer = try await self.get("/metrics", port: port)
            #expect(answer.hasPrefix("HTTP/1.1 403 ") && answer.contains("operator-token"))
            #expect(try await self.get("/healthz", port: port).hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test func pages() async throws {
        let context = DaemonContext.quiet(name: "x-1")
        let check = context.health.check("database")
        context.metrics.counter("touchsync_x_total", "X.").add(3)
        context.pages.add("/extra") { AdminPage(body: "more".utf8) }
        try await self.withServer(context) { port in
            #expect(try await self.get("/healthz", port: port).hasPrefix("HTTP/1.1 200 OK\r\n"))
            let starting = try await self.get("/readyz?verbose", port: port)
            #expect(starting.hasPrefix("HTTP/1.1 503 "))
            #expect(
                starting.hasSuffix(
                    #"{"ready":false,"reasons":[{"check":"database","reason":"starting"},{"check":"process","reason":"starting"}]}"#
                ))
            context.health.serve()
            check.ready()
            let ready = try await self.get("/readyz", port: port)
            #expect(ready.hasPrefix("HTTP/1.1 200 ") && ready.hasSuffix(#"{"ready":true,"reasons":[]}"#))
            #expect(try await self.get("/metrics", port: port).contains("touchsync_x_total 3\n"))
            #expect(try await self.get("/extra", port: port).hasSuffix("\r\n\r\nmore"))
            #expect(try await self.get("/nope", port: port).hasPrefix("HTTP/1.1 404 "))
            #expect(try await self.get("/healthz", port: port, method: "POST").hasPrefix("HTTP/1.1 405 "))
            let head = try await self.get("/healthz", port: port, method: "HEAD")
            #expect(head.contains("Content-Length: 3\r\n") && head.hasSuffix("\r\n\r\n"))
        }
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
        let context = DaemonContext.quiet(name: "x-1")
        try await self.withServer(context) { port in
            let request = "GET /healthz HTTP/1.1\r\n\(Self.fields)\r\n"
            let last = "GET /nope HTTP/1.1\r\n\(Self.fields)Connection: close\r\n\r\n"
            let answer = try await self.exchange(request + request + last, port: port)
            #expect(answer.words(after: "HTTP/1.1 ") == ["200", "200", "404"])
        }
    }

    @Test(arguments: [
        "\u{0}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ])
    func garbageEndsItsOwnConnectionOnly(_ request: String) async throws {
        let context = DaemonContext.quiet(name: "x-1")
        try await self.withServer(context) { port in
            let answer = try await self.exchange(request, port: port)
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 400") || answer.hasPrefix("HTTP/1.0 400"), "\(answer)")
            #expect(try await self.get("/healthz", port: port).hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test func aQuestionIsAnsweredByAnotherThreadInOrder() async throws {
        let context = DaemonContext.quiet(name: "x-1")
        context.pages.add("/asked") { question in
            let pair = (question.parameter("a") ?? "-", question.parameter("b c") ?? "-")
            NIOThreadPool.singleton.submit { _ in question.answer { AdminPage(body: "\(pair)\n".utf8) } }
        }
        try await self.withServer(context) { port in
            let first = "GET /asked?x=1&a=%41%20+ HTTP/1.1\r\n\(Self.fields)\r\n"
            let last = "GET /healthz HTTP/1.1\r\n\(Self.fields)Connection: close\r\n\r\n"
            let answer = try await self.exchange(first + last, port: port)
            #expect(answer.contains(#"("A +", "-")"#) && answer.hasSuffix("\r\n\r\nok\n"), "\(answer)")
        }
    }

    @Test func aQuestionWithoutAnAnswerEnds() async throws {
        let context = DaemonContext.quiet(name: "x-1")
        let kept = NIOLockedValueBox<AdminQuestion?>(nil)
        context.pages.add("/asked") { question in kept.withLockedValue { $0 = question } }
        try await self.withServer(context, patience: .milliseconds(20)) { port in
            let answer = try await self.get("/asked", port: port)
            #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.hasSuffix("no answer within 0.02 seconds\n"))
            // A late answer goes nowhere.
            kept.withLockedValue { $0 }?.answer { AdminPage(body: "late".utf8) }
            #expect(try await self.get("/healthz", port: port).hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test func percentCodingIsReversible() {
        let text = "a room/ü&=+%41~"
        #expect(PercentCoding.encode(text) == "a%20room%2F%C3%BC%26%3D%2B%2541~")
        #expect(PercentCoding.decode(PercentCoding.encode(text)) == text)
        #expect(PercentCoding.decode("%zz%4") == "%zz%4")
    }

    @Test func aTakenPortIsAnError() async throws {
        let context = DaemonContext.quiet(name: "x-1")
        try await self.withServer(context) { port in
            await #expect(throws: AdminServer.Unbound.self) {
                try await AdminServer(
                    host: "127.0.0.1", port: port, pages: context.pages, access: OperatorAccess(token: nil),
                    metrics: MetricsRegistry()
                ).run()
            }
        }
    }
}

extension String {
    /// The words that follow each occurrence of a marker.
    fileprivate func words(after marker: String) -> [String] {
        self.split(separator: marker).map { String($0.prefix { $0 != " " }) }
    }
}

@Suite(.timeLimit(.minutes(1))) struct HealthTests {
    @Test func readyIsTheSumOfItsChecks() {
        let health = Health()
        let (first, second) = (health.check("a"), health.check("b"))
        #expect(!health.current.isReady)
        first.ready()
        health.serve()
        #expect(health.current.reasons == [HealthState.Reason(check: "b", text: "starting")])
        second.ready()
        #expect(health.current.isReady)
        first.notReady("no peer")
        #expect(health.current.reasons == [HealthState.Reason(check: "a", text: "no peer")])
        first.ready()
        health.drain()
        #expect(health.current.reasons == [HealthState.Reason(check: "process", text: "draining")])
        first.ready()
        #expect(!health.current.isReady)
    }

    @Test func aLoopThatStandsStillIsFound() {
        let time = NIOLockedValueBox<UInt64>(0)
        let health = Health(clock: { time.withLockedValue { $0 } })
        let metrics = MetricsRegistry()
        health.addMetrics(to: metrics)
        let pages = AdminPages(health: health, metrics: metrics)
        func page() -> (status: Int?, text: String) {
            let page = pages.page(at: "/healthz")
            return (page?.status, String(decoding: page?.body ?? [], as: UTF8.self))
        }
        let (first, second) = (health.pulse("apps"), health.pulse("mesh"))
        // One that has not begun to turn says nothing yet.
        first.beat()
        time.withLockedValue { $0 = 5_000_000_000 }
        #expect(page() == (200, "ok\n"))
        second.beat()
        time.withLockedValue { $0 = 7_000_000_000 }
        #expect(page() == (503, "stalled: apps has not turned for 7 s\n"))
        #expect(metrics.text().contains("touchsync_stalled_loops 1\n"))
        #expect(metrics.text().contains("touchsync_ready 0\n"))
        health.serve()
        #expect(metrics.text().contains("touchsync_ready 1\n"))
        first.beat()
        #expect(page() == (200, "ok\n"))
        time.withLockedValue { $0 = 20_000_000_000 }
        #expect(page().status == 503)
        // Loops end one by one while the daemon drains.
        health.drain()
        #expect(page().status == 200)
    }

    @Test func aNoteIsToldAndChangesNothing() {
        let health = Health()
        let pages = AdminPages(health: health, metrics: MetricsRegistry())
        let note = health.note("commits")
        health.serve()
        func page() -> String { String(decoding: pages.page(at: "/readyz")?.body ?? [], as: UTF8.self) }
        #expect(page() == #"{"ready":true,"reasons":[]}"#)
        note.say("they wait")
        #expect(page() == #"{"ready":true,"reasons":[],"notes":[{"check":"commits","reason":"they wait"}]}"#)
        #expect(pages.page(at: "/readyz")?.status == 200)
        note.say(nil)
        #expect(page() == #"{"ready":true,"reasons":[]}"#)
    }

    @Test func theReadyLineIsWrittenOnce() {
        let pipe = TestPipe()
        let health = Health()
        let report = ReadyReport(descriptor: dup(pipe.writing))
        health.observe { report.healthChanged($0) }
        let check = health.check("a")
        report.listening(at: "http://127.0.0.1:9")
        health.serve()
        #expect(pipe.text() == "")
        health.announce(url: "http://127.0.0.1:8080")
        check.ready()
        #expect(pipe.text() == #"{"ready":true,"http":"http://127.0.0.1:9","url":"http://127.0.0.1:8080"}"# + "\n")
        check.notReady("x")
        check.ready()
        #expect(pipe.text() == "")
    }

    @Test func theWatchEndsWithTheParent() async throws {
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        let watch = ParentWatch(descriptor: ends[0])
        async let end: Void = watch.run()
        close(ends[1])
        try await end
    }
}

@Suite struct FileBytesTests {
    @Test func filesAreReplacedWhole() throws {
        let path = "/tmp/touchsync-boot-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        #expect(FileBytes.replace(path, with: Array("one".utf8)) == nil)
        #expect(FileBytes.replace(path, with: Array("two".utf8)) == nil)
        #expect(try FileBytes.read(path).get() == Array("two".utf8))
        #expect(FileBytes.read(path, limit: 2).failure == "is longer than 2 bytes")
        unlink(path)
        #expect(FileBytes.read(path).failure == "cannot be read: No such file or directory")
        #expect(
            FileBytes.replace("/nowhere/at/all", with: [])?.reason == "cannot be created: No such file or directory")
    }

    @Test func theFileThatIsJudgedIsTheOneThatIsRead() throws {
        let path = "/tmp/touchsync-boot-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        defer { unlink(path) }
        #expect(FileBytes.replace(path, with: Array("judged".utf8)) == nil)
        let bytes = try FileBytes.read(path) { facts in
            // In this moment somebody puts another file in its place.
            #expect(FileBytes.replace(path, with: Array("another".utf8)) == nil && chmod(path, 0o644) == 0)
            return facts.permissions == 0o600 ? nil : SettingRefusal("another mode")
        }.get()
        #expect(bytes == Array("judged".utf8))
        #expect(FileBytes.read(path) { SettingRefusal("has mode \($0.permissions)") }.failure == "has mode \(0o644)")
    }
}

extension Result where Failure == SettingRefusal {
    fileprivate var failure: String? {
        if case .failure(let refusal) = self { refusal.reason } else { nil }
    }
}
