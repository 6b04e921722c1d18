import Foundation
import Glibc
import NIOPosix
import Stages
import Testing

@testable import OperatorDaemon

/// A folder of its own, removed at the end.
final class TemporaryFolder: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/touchsync-operator-XXXXXX".utf8CString)
        self.path = String(cString: mkdtemp(&template))
    }

    deinit {
        try? FileManager.default.removeItem(atPath: self.path)
    }

    /// An executable shell script in the folder.
    func script(_ name: String, _ text: String) -> String {
        let path = "\(self.path)/\(name)"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o700)
        let bytes = Array("#!/bin/sh\n\(text)\n".utf8)
        _ = write(descriptor, bytes, bytes.count)
        close(descriptor)
        return path
    }
}

/// The real shell around processes of /bin/sh.
@Suite(.timeLimit(.minutes(1))) struct SupervisorTests {
    private enum News: Sendable {
        case changed([Supervisor.Status])
        case announced([Supervisor.Status])
        case told(String)
        case ended(SupervisorMachine.Outcome)
    }

    /// Supervises scripts on a thread of its own; `body` sees the news and asks for the stop.
    private func supervising(
        _ scripts: [(stage: Stage, text: String)], in folder: TemporaryFolder = TemporaryFolder(),
        _ limit: LogLimit = LogLimit(),
        _ body: (AsyncStream<News>, _ stop: () -> Void) async throws -> Void
    ) async throws {
        var stop: [Int32] = [-1, -1]
        pipe(&stop)
        _ = fcntl(stop[0], F_SETFL, O_NONBLOCK)
        let plans = scripts.enumerated().map { index, script in
            let name = "\(script.stage.rawValue)-\(index)"
            return (
                stage: script.stage, name: name,
                plan: ProcessPlan(
                    executable: folder.script(name, script.text), arguments: ["one", "two words"],
                    environment: ["COLOUR": "red"], logFile: "\(folder.path)/\(name).log")
            )
        }
        let (stream, continuation) = AsyncStream.makeStream(of: News.self)
        let (reading, writing) = (stop[0], stop[1])
        let thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
        async let work: Void = thread.runIfActive {
            var supervisor = try Supervisor(
                members: plans.map { Supervisor.Member(stage: $0.stage, name: $0.name, plan: $0.plan) },
                stops: StopRequests(descriptor: reading), logLimit: limit)
            supervisor.changed = { continuation.yield(.changed($0)) }
            supervisor.announced = { continuation.yield(.announced($0)) }
            supervisor.told = { continuation.yield(.told($0)) }
            continuation.yield(.ended(supervisor.run()))
            continuation.finish()
        }
        try await body(stream) { _ = write(writing, "x", 1) }
        _ = write(writing, "x", 1)
        try await work
        try await thread.shutdownGracefully()
        close(stop[0])
        close(stop[1])
    }

    private static let ready = #"echo '{"ready":true,"http":"http://127.0.0.1:7","url":"u-'$COLOUR'"}' >&3; exec 3>&-"#
    /// Ends when the supervisor's pipe does, or by a signal.
    private static let wait = "exec cat <&4"

    @Test func readinessRestartAndStop() async throws {
        let script = "\(Self.ready); \(Self.wait)"
        try await self.supervising([(.fanout, script), (.gateway, script)]) { news, stop in
            var first: [Supervisor.Status]?
            for await item in news {
                if case .announced(let statuses) = item {
                    first = statuses
                    break
                }
            }
            let statuses = try #require(first)
            #expect(statuses.map(\.name) == ["fanout-0", "gateway-1"])
            #expect(statuses.allSatisfy { $0.isReady && $0.http == "http://127.0.0.1:7" && $0.url == "u-red" })
            let victim = try #require(statuses[1].pid)
            kill(victim, SIGKILL)
            var reborn: Int32?
            for await item in news {
                if case .changed(let now) = item, now[1].isReady, now[1].pid != victim {
                    reborn = now[1].pid
                    break
                }
            }
            #expect(reborn != nil)
            stop()
            var outcome: SupervisorMachine.Outcome?
            for await item in news {
                if case .ended(let how) = item { outcome = how }
            }
            #expect(outcome == .stopped)
            #expect(kill(try #require(reborn), 0) == -1)
        }
    }

    @Test func theEndOfTheLogIsToldWithACrash() async throws {
        let script = "echo last words >&2; \(Self.ready); exit 3"
        try await self.supervising([(.gateway, script)]) { news, _ in
            var lines: [String] = []
            for await item in news {
                if case .told(let line) = item { lines.append(line) }
                if lines.count == 2 { break }
            }
            #expect(lines == ["gateway-0 ended with exit code 3; starting it again", "  | last words"])
        }
    }

    /// As much as the pipe between them holds, written a moment before.
    @Test func nothingIsLostThatAKilledProcessHadWritten() async throws {
        let folder = TemporaryFolder()
        let script = "\(Self.ready); seq 1 40000 >&2; kill -KILL $$"
        try await self.supervising([(.gateway, script)], in: folder) { news, _ in
            var lines: [String] = []
            for await item in news {
                if case .told(let line) = item { lines.append(line) }
                if lines.count == 6 { break }
            }
            #expect(lines.first?.hasPrefix("gateway-0 was killed by signal 9") == true)
            #expect(lines.dropFirst() == ["  | 39996", "  | 39997", "  | 39998", "  | 39999", "  | 40000"])
            let log = try String(contentsOfFile: "\(folder.path)/gateway-0.log", encoding: .utf8)
            #expect(log.hasPrefix((1...40000).map { "\($0)\n" }.joined()))
        }
    }

    /// A process that writes more than its files hold, and faster than they are written: they have the end of it.
    @Test func whatProcessesWriteFillsTheirFilesAndNoMore() async throws {
        let folder = TemporaryFolder()
        var limit = LogLimit()
        (limit.bytes, limit.files) = (1 << 16, 3)
        let script = "seq 1 200000 >&2; \(Self.ready); \(Self.wait)"
        try await self.supervising([(.gateway, script)], in: folder, limit) { news, stop in
            for await item in news {
                if case .announced = item { stop() }
                if case .ended = item { break }
            }
        }
        let files = try ["", ".1", ".2"].map {
            try Data(contentsOf: URL(filePath: "\(folder.path)/gateway-0.log\($0)"))
        }
        #expect(files.allSatisfy { $0.count <= 1 << 16 } && files[1].count > 60_000)
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/gateway-0.log.3"))
        let lines = String(decoding: Data(files.reversed().joined()), as: UTF8.self).split(separator: "\n").map {
            Int($0)
        }
        let first = try #require(lines.first ?? nil)
        #expect(lines == Array(first...200_000))
    }

    @Test func refusedSettingsEndEverything() async throws {
        try await self.supervising([(.fanout, Self.wait), (.gateway, "exit 78")]) { news, _ in
            var outcome: SupervisorMachine.Outcome?
            for await item in news {
                if case .ended(let how) = item { outcome = how }
            }
            #expect(outcome == .failed("gateway-1 refused its settings (exit code 78)", exitCode: 78))
        }
    }

    @Test func aChildGetsItsArgumentsAndNothingElse() async throws {
        let script = #"""
            for f in /proc/self/fd/*; do :; done
            text="$1|$2|$COLOUR|$(ls /proc/$$/fd | tr '\n' ' ')"
            echo "{\"ready\":true,\"url\":\"$text\"}" >&3; \#(Self.wait)
            """#
        let leak = fcntl(0, F_DUPFD, 40)
        defer { close(leak) }
        try await self.supervising([(.gateway, script)]) { news, _ in
            for await item in news {
                guard case .announced(let statuses) = item else { continue }
                let url = try #require(statuses[0].url)
                #expect(url.hasPrefix("one|two words|red|"), "\(url)")
                // 5, 6 and 10 (or 255) are the shell's own: the substitution's pipe, and its script.
                let descriptors = url.split(separator: "|").last?.split(separator: " ").compactMap { Int($0) } ?? []
                #expect(descriptors.filter { $0 < 5 }.sorted() == [0, 1, 2, 3, 4])
                #expect(Set(descriptors).isSubset(of: [0, 1, 2, 3, 4, 5, 6, 10, 255]), "\(descriptors)")
                return
            }
        }
    }

    @Test func nonsenseOnTheReadyPipeIsNoReadiness() {
        #expect(ReadyPipe.line(#"{"ready":true}"#.utf8) == ReadyPipe.Line(http: nil, url: nil))
        for text in ["", "{}", "[]", #"{"ready":false}"#, #"{"ready":1}"#, "ready", #"{"ready":true"#] {
            #expect(ReadyPipe.line(text.utf8) == nil, "\(text)")
        }
    }
}
