import Glibc
import NIOConcurrencyHelpers
import Testing

@testable import Boot

/// The socket of a service manager. What it receives is read without waiting: a datagram arrives with the call that
/// sends it.
private final class ManagerSocket {
    private let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    /// For NOTIFY_SOCKET.
    let name: String

    /// - Parameter isAbstract: true for a name that is not in the file system.
    init(isAbstract: Bool = false) {
        self.name = "\(isAbstract ? "@" : "/tmp/")touchsync-manager-\(getpid())-\(UInt64.random(in: .min ... .max))"
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(self.name.utf8)
        if isAbstract { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        withUnsafeBytes(of: address) { raw in
            _ = bind(self.descriptor, raw.baseAddress?.assumingMemoryBound(to: sockaddr.self), length)
        }
    }

    deinit {
        close(self.descriptor)
        unlink(self.name)
    }

    /// The messages since the last call.
    var messages: [String] {
        var all: [String] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(self.descriptor, &buffer, buffer.count, 0), count > 0 {
            all.append(String(decoding: buffer.prefix(count), as: UTF8.self))
        }
        return all
    }
}

@Suite struct ServiceManagerTests {
    private func manager(_ socket: ManagerSocket, _ more: [String: String] = [:]) throws -> ServiceManager {
        try #require(ServiceManager(environment: more.merging(["NOTIFY_SOCKET": socket.name]) { own, _ in own }))
    }

    @Test(arguments: [false, true]) func readinessIsToldWhenThereIs(isAbstract: Bool) throws {
        let socket = ManagerSocket(isAbstract: isAbstract)
        let manager = try self.manager(socket)
        let health = Health()
        let check = health.check("database")
        health.observe(manager.healthChanged)
        #expect(socket.messages == ["STATUS=Not ready: database: starting; process: starting"])
        health.serve()
        #expect(socket.messages == ["STATUS=Not ready: database: starting"])
        check.ready()
        #expect(socket.messages == ["READY=1\nSTATUS=Ready."])
        check.notReady("no\nREADY=1\nserver")
        #expect(socket.messages == ["STATUS=Not ready: database: no READY=1 server"])
        manager.stopping()
        #expect(socket.messages == ["STOPPING=1"])
    }

    @Test func theWatchdogHearsOfAllLoopsOrNothing() throws {
        let socket = ManagerSocket()
        let manager = try self.manager(socket, ["WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "\(getpid())"])
        let health = Health()
        let (first, second) = (health.pulse("apps"), health.pulse("mesh"))
        health.observeRounds(manager.loopsTurned)
        first.beat()
        first.beat()
        #expect(socket.messages.isEmpty)
        second.beat()
        #expect(socket.messages == ["WATCHDOG=1"])
        // One loop that stands still is enough for silence.
        for _ in 0..<5 { second.beat() }
        #expect(socket.messages.isEmpty)
        first.beat()
        #expect(socket.messages == ["WATCHDOG=1"])
        health.drain()
        second.beat()
        #expect(socket.messages == ["WATCHDOG=1"])
    }

    @Test(arguments: [
        [:], ["WATCHDOG_USEC": "0"], ["WATCHDOG_USEC": "-1"], ["WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "1"],
    ])
    func withoutAWatchdogNothingIsSent(_ environment: [String: String]) throws {
        let socket = ManagerSocket()
        try self.manager(socket, environment).loopsTurned()
        #expect(socket.messages.isEmpty)
    }

    @Test(arguments: ["", "relative", "vsock:2:1", "/" + String(repeating: "x", count: 200)])
    func anotherAddressIsNone(_ name: String) {
        #expect(ServiceManager(environment: ["NOTIFY_SOCKET": name]) == nil)
    }

    /// The longest names that fit.
    @Test(arguments: ["/", "@"]) func aLongAddressFits(_ first: String) {
        let name = first + String(repeating: "x", count: 106)
        #expect(ServiceManager(environment: ["NOTIFY_SOCKET": name]) != nil)
    }

    @Test func aManagerThatIsGoneOrFullStopsNobody() throws {
        var socket: ManagerSocket? = ManagerSocket()
        let manager = try self.manager(try #require(socket), ["WATCHDOG_USEC": "1000000"])
        // Far more than a socket holds.
        for _ in 0..<10_000 { manager.loopsTurned() }
        #expect(socket?.messages.isEmpty == false)
        socket = nil
        manager.stopping()
    }
}
