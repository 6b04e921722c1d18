import Glibc
import PipelineTestKit
import Testing

@testable import Mesh

/// Contexts and sockets by hand, without a reactor: everything here runs on one thread.
struct SocketTests {
    @Test func aContextWithoutSocketsEndsAtOnceAndOnlyOnce() throws {
        let context = try MeshContext()
        #expect(context.close())
        #expect(context.close())
        #expect { _ = try Socket(.dealer, context: context, options: LinkOptions()) } throws: {
            ($0 as? MeshError)?.code == .terminated
        }
    }

    @Test func anOpenSocketDoesNotHangTheContext() throws {
        let context = try MeshContext()
        let socket = try Socket(.dealer, context: context, options: LinkOptions())
        #expect(!context.close(limit: .milliseconds(20)))
        let result = socket.send([1])
        #expect(result == .unroutable)
    }

    @Test func unsentMessagesToNobodyAreGivenUpAfterLinger() throws {
        let directory = try TemporaryFolder()
        let context = try MeshContext()
        var options = LinkOptions()
        options.linger = .milliseconds(100)
        do {
            let socket = try Socket(.dealer, context: context, options: options)
            try socket.connect(try directory.endpoint())
            for number in 0..<100 {
                let result = socket.send(bytes(number))
                #expect(result == .sent)
            }
        }
        let start = ContinuousClock.now
        #expect(context.close())
        #expect(ContinuousClock.now - start < .milliseconds(1500))
    }

    @Test func theHighWaterMarkRefuses() throws {
        let directory = try TemporaryFolder()
        let context = try MeshContext()
        do {
            let socket = try Socket(.dealer, context: context, options: LinkOptions(sendHighWater: 5))
            socket.setLinger(.zero)
            try socket.connect(try directory.endpoint())
            var results: [SendResult] = []
            for number in 0..<6 { results.append(socket.send(bytes(number))) }
            #expect(results == [.sent, .sent, .sent, .sent, .sent, .wouldBlock])
        }
        #expect(context.close())
    }

    @Test func anUnknownPeerIsUnroutable() throws {
        let context = try MeshContext()
        do {
            let socket = try Socket(.router, context: context, options: LinkOptions())
            let result = socket.send([1, 2, 3], more: true)
            #expect(result == .unroutable)
        }
        #expect(context.close())
    }

    @Test func bindingReplacesAStaleFileAndCleansUpItsOwnOnly() throws {
        let directory = try TemporaryFolder()
        let endpoint = try directory.endpoint("sub/dir/x")
        guard case .ipc(let path) = endpoint.kind else { return }
        func exists() -> Bool { access(path, F_OK) == 0 }
        let context = try MeshContext()
        do {
            var socket = try Socket(.router, context: context, options: LinkOptions())
            #expect(try socket.bind(endpoint) == endpoint)
            var status = stat()
            #expect(stat(directory.path + "/sub/dir", &status) == 0 && status.st_mode & 0o777 == 0o700)
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            var second = try Socket(.router, context: context, options: LinkOptions())
            do {
                _ = try second.bind(endpoint)
                Issue.record("bound twice")
            } catch {
                #expect(error.code == .addressInUse)
            }
        }
        #expect(!exists())
        // A file that nobody listens on any more.
        let stale = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(stale, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(code == 0)
        close(stale)
        #expect(exists())
        do {
            var socket = try Socket(.router, context: context, options: LinkOptions())
            _ = try socket.bind(endpoint)
            // A successor that took the path over keeps its file.
            unlink(path)
            let descriptor = open(path, O_CREAT | O_WRONLY, 0o600)
            close(descriptor)
        }
        #expect(exists())
        unlink(path)
        rmdir(directory.path + "/sub/dir")
        rmdir(directory.path + "/sub")
        #expect(context.close())
    }

    @Test func aTCPPortInUseIsSaid() throws {
        let context = try MeshContext()
        do {
            var first = try Socket(.router, context: context, options: LinkOptions())
            let bound = try first.bind(try Endpoint("tcp://127.0.0.1:0"))
            #expect(bound.isConnectable)
            var second = try Socket(.router, context: context, options: LinkOptions())
            do {
                _ = try second.bind(bound)
                Issue.record("bound twice")
            } catch {
                #expect(error.code == .addressInUse)
                #expect(error.isRetriable)
                #expect(error.description.contains(bound.description))
            }
        }
        #expect(context.close())
    }

    @Test func optionsAreChecked() throws {
        #expect(LinkOptions().problem == nil)
        #expect(LinkOptions(sendHighWater: 0).problem == "sendHighWater must be 1 to 1000000")
        var options = LinkOptions()
        options.linger = .seconds(11)
        #expect(options.problem == "linger must be 0 to 10 s")
        options = LinkOptions()
        options.maximumMessageBytes = 1
        #expect(options.problem == "maximumMessageBytes must be 64 to 1 GiB")
        let context = try MeshContext()
        #expect(throws: MeshError.self) { _ = try Socket(.router, context: context, options: options) }
        #expect(throws: MeshError.self) {
            _ = try Socket(.dealer, context: context, options: LinkOptions(), routingID: [])
        }
        #expect(context.close())
    }
}
