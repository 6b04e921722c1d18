import Glibc
import NIOCore
import NIOPosix
import SocketIO
import SocketIOServer

/// A server for the official protocol suites, Autobahn-like runners and real clients:
/// `--port P [--host H] [--ping-interval MS] [--ping-timeout MS] [--connect-timeout MS] [--max-buffered-bytes N]`; the
/// suites need the defaults.
///
/// Socket.IO at `/socket.io/`, bare Engine.IO at `/engine.io/`, bare WebSocket at `/echo`.
@main
struct Main {
    static func main() async throws {
        let options = try Options(CommandLine.arguments.dropFirst())
        raiseDescriptorLimit()
        let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        let server = SocketIOServer(
            eventLoop: loop, configuration: Self.configuration(options),
            routes: [
                .socketIO(path: "/socket.io/", ConformanceApplication(eventLoop: loop)),
                .engineIO(path: "/engine.io/", EngineEcho()),
                .webSocket(
                    path: "/echo", WebSocketEcho(), limits: WebSocketLimits(maxMessage: 64 << 20, maxFragments: .max)),
            ])
        let address = try await server.start(host: options.host ?? "0.0.0.0", port: options.port)
        let port = address.port ?? options.port
        // "localhost" may mean either family; a machine without IPv6 is fine too.
        if options.host == nil { _ = try? await server.start(host: "::1", port: port) }
        print("listening on port \(port)")
        fflush(nil)
        // Serves until it is killed.
        try await loop.makePromise(of: Void.self).futureResult.get()
    }

    private static func configuration(_ options: Options) -> SocketIOServer.Configuration {
        var configuration = SocketIOServer.Configuration()
        configuration.pingInterval = .milliseconds(options.pingInterval)
        configuration.pingTimeout = .milliseconds(options.pingTimeout)
        configuration.connectTimeout = .milliseconds(options.connectTimeout)
        configuration.maxPayload = 1_000_000
        configuration.origins = .any
        configuration.maxConnections = 50_000
        configuration.maxConnectionsPerAddress = 50_000
        // Autobahn measures throughput.
        configuration.connectionReads = ReadMeter(bytesPerSecond: 1 << 30, messagesPerSecond: 10_000_000)
        configuration.maxBufferedBytes = options.maxBufferedBytes
        return configuration
    }

    /// Thousands of connections need more descriptors than the usual soft limit.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

/// The command line.
struct Options {
    struct Failure: Error {
        let message: String
    }

    var host: String?
    var port = 3000
    /// Milliseconds.
    var pingInterval = 300
    var pingTimeout = 200
    /// A suite polls for three pings without a CONNECT, which takes 900 ms and more, and waits 2 s for this timeout.
    var connectTimeout = 1500
    /// Bytes that may wait for one connection.
    var maxBufferedBytes = 16 << 20

    init(_ arguments: some Sequence<String>) throws {
        var iterator = arguments.makeIterator()
        while let name = iterator.next() {
            guard let value = iterator.next() else { throw Failure(message: "\(name) needs a value") }
            switch name {
            case "--host": self.host = value
            case "--port": self.port = try Self.number(name, value, 0...65_535)
            case "--ping-interval": self.pingInterval = try Self.number(name, value, 1...86_400_000)
            case "--connect-timeout": self.connectTimeout = try Self.number(name, value, 1...86_400_000)
            case "--ping-timeout": self.pingTimeout = try Self.number(name, value, 1...86_400_000)
            case "--max-buffered-bytes":
                self.maxBufferedBytes = try Self.number(name, value, 65_536...1 << 30)
            default: throw Failure(message: "unknown option \(name)")
            }
        }
    }

    private static func number(_ name: String, _ value: String, _ range: ClosedRange<Int>) throws -> Int {
        guard let number = Int(value), range.contains(number) else {
            throw Failure(message: "\(name) is not in \(range): \(value)")
        }
        return number
    }
}
