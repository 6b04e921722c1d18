import JSONBytes
import SocketIO
import Testing
import Wire

private let millisecond: UInt64 = 1_000_000

@Suite struct EngineMachineTests {
    private static let timings = EngineTimings(
        pingInterval: 300 * millisecond, pingTimeout: 200 * millisecond, upgradeTimeout: 1000 * millisecond,
        connect: .init(request: 500 * millisecond, acceptance: 800 * millisecond))

    private func machine(_ transport: EngineTransport = .polling) -> EngineMachine {
        var machine = EngineMachine(transport: transport, timings: Self.timings, at: 0)
        machine.connected()
        return machine
    }

    private func candidate(_ machine: inout EngineMachine, _ text: String, at now: UInt64 = 0)
        -> EngineMachine.CandidateAnswer
    {
        bytes(text).withUnsafeBytes { machine.candidateReceived($0, at: now) }
    }

    private func due(_ machine: inout EngineMachine, _ now: UInt64) -> EngineMachine.Due { machine.timeReached(now) }

    private func packet(
        _ machine: inout EngineMachine, _ type: EnginePacketType, at now: UInt64
    ) -> EngineMachine.PacketAnswer { machine.packetReceived(type, at: now) }

    @Test func heartbeat() {
        var machine = self.machine(.webSocket)
        #expect(machine.nextDeadline == 300 * millisecond)
        #expect(self.due(&machine, 299 * millisecond).sendsPing == false)
        #expect(self.due(&machine, 310 * millisecond).sendsPing)
        // The timer was late; the pong is still due at 500.
        #expect(machine.nextDeadline == 500 * millisecond)
        #expect(self.packet(&machine, .pong, at: 400 * millisecond) == .nothing)
        #expect(machine.nextDeadline == 700 * millisecond)
        // Pongs that nobody asked for move nothing.
        #expect(self.packet(&machine, .pong, at: 600 * millisecond) == .nothing)
        #expect(machine.nextDeadline == 700 * millisecond)
        #expect(self.due(&machine, 700 * millisecond).sendsPing)
        #expect(self.due(&machine, 900 * millisecond).expiry == .pingTimeout)
        #expect(machine.isClosed)
        #expect(machine.nextDeadline == .max)
        #expect(self.due(&machine, 2000 * millisecond).expiry == nil)
    }

    @Test func aWholePeriodMissedEndsAtOnce() {
        var machine = self.machine()
        #expect(self.due(&machine, 500 * millisecond).expiry == .pingTimeout)
    }

    @Test func connectTimeout() {
        var machine = EngineMachine(transport: .webSocket, timings: Self.timings, at: 0)
        machine.connectRequested()
        _ = machine.timeReached(300 * millisecond)
        _ = machine.packetReceived(.pong, at: 310 * millisecond)
        _ = machine.timeReached(610 * millisecond)
        _ = machine.packetReceived(.pong, at: 620 * millisecond)
        #expect(self.due(&machine, 800 * millisecond).expiry == .connectTimeout)
    }

    @Test func aPeerThatNeverAsksForANamespaceEndsEarlier() {
        var machine = EngineMachine(transport: .webSocket, timings: Self.timings, at: 0)
        _ = machine.timeReached(300 * millisecond)
        _ = machine.packetReceived(.pong, at: 310 * millisecond)
        #expect(machine.nextDeadline == 500 * millisecond)
        #expect(self.due(&machine, 499 * millisecond).expiry == nil)
        #expect(self.due(&machine, 500 * millisecond).expiry == .connectTimeout)
    }

    @Test func aSlowUpgradeDelaysTheFirstConnect() {
        var machine = EngineMachine(transport: .polling, timings: Self.timings, at: 0)
        let isWelcome = machine.webSocketArrived(at: 100 * millisecond)
        #expect(isWelcome)
        // Not beyond the time in which one must be accepted.
        #expect(self.due(&machine, 700 * millisecond).expiry == nil)
        #expect(self.due(&machine, 800 * millisecond).expiry == .connectTimeout)
        // A second one changes nothing any more.
        var second = EngineMachine(transport: .polling, timings: Self.timings, at: 0)
        second.connectRequested()
        _ = second.webSocketArrived(at: 100 * millisecond)
        second.connected()
        second.candidateLost(at: 150 * millisecond)
        second.connectRequested()
        #expect(second.nextDeadline == 300 * millisecond)
    }

    @Test func polls() {
        var machine = self.machine()
        #expect(machine.pollReceived(hasPackets: true) == .packets)
        #expect(machine.pollReceived(hasPackets: false) == .hold)
        #expect(machine.pollReceived(hasPackets: false) == .duplicate)
        machine.pollAnswered()
        #expect(machine.postReceived(at: 0) == .read)
        #expect(machine.postReceived(at: 0) == .duplicate)
        machine.postEnded()
        #expect(machine.postReceived(at: 0) == .read)
        machine.ended()
        #expect(machine.pollReceived(hasPackets: false) == .mismatch)
        #expect(machine.postReceived(at: 0) == .mismatch)
    }

    @Test func theWholeDance() {
        var machine = self.machine()
        #expect(machine.pollReceived(hasPackets: false) == .hold)
        #expect(machine.webSocketArrived(at: 0) == true)
        #expect(machine.webSocketArrived(at: 0) == false)
        #expect(self.candidate(&machine, "2probe", at: 10 * millisecond) == .probe)
        #expect(machine.nextDeadline == 110 * millisecond)
        #expect(self.due(&machine, 110 * millisecond).releasesPoll)
        // The client polls again if its poll came back before it saw the probe.
        #expect(machine.pollReceived(hasPackets: false) == .hold)
        #expect(machine.nextDeadline == 210 * millisecond)
        #expect(self.due(&machine, 210 * millisecond).releasesPoll)
        #expect(machine.pollReceived(hasPackets: true) == .packets)
        #expect(self.candidate(&machine, "6") == .ignore)
        #expect(machine.pollReceived(hasPackets: false) == .hold)
        #expect(self.candidate(&machine, "5", at: 250 * millisecond) == .adopt(releasePoll: true))
        #expect(machine.transport == .webSocket)
        #expect(machine.pollReceived(hasPackets: false) == .mismatch)
        #expect(machine.webSocketArrived(at: 0) == false)
        // The stray noop of some clients.
        #expect(self.packet(&machine, .noop, at: 0) == .nothing)
    }

    @Test func postIsAcceptedForASecondAfterTheChange() {
        var machine = self.machine()
        _ = machine.webSocketArrived(at: 0)
        _ = self.candidate(&machine, "2probe")
        _ = self.candidate(&machine, "5", at: 150 * millisecond)
        #expect(machine.postReceived(at: 150 * millisecond) == .read)
        #expect(machine.postReceived(at: 160 * millisecond) == .mismatch, "one at a time; the session stays")
        machine.postEnded()
        #expect(machine.postReceived(at: 1149 * millisecond) == .read)
        machine.postEnded()
        #expect(machine.postReceived(at: 1150 * millisecond) == .mismatch)
    }

    @Test func webSocketThatNeverPolledAcceptsNoPost() {
        var machine = self.machine(.webSocket)
        #expect(machine.postReceived(at: 0) == .mismatch)
    }

    @Test func aCandidateThatDoesNotDance() {
        for text in ["5", "4hello", "2", "", "2probe2", "9"] {
            var machine = self.machine()
            _ = machine.webSocketArrived(at: 0)
            #expect(self.candidate(&machine, text) == .drop, "\(text)")
            machine.candidateLost(at: 0)
            #expect(machine.transport == .polling)
            #expect(machine.webSocketArrived(at: 0) == true, "another may try")
        }
    }

    @Test func aLateUpgradeIsDroppedAndPollingGoesOn() {
        var machine = self.machine()
        _ = machine.webSocketArrived(at: 0)
        _ = self.candidate(&machine, "2probe")
        _ = machine.timeReached(300 * millisecond)
        let due = machine.timeReached(1000 * millisecond)
        #expect(due.dropsCandidate)
        #expect(due.expiry == nil, "a probing client holds its pong back")
        #expect(machine.nextDeadline == 1200 * millisecond, "and gets its whole time afterwards")
        #expect(machine.postReceived(at: 1000 * millisecond) == .read)
    }

    @Test func closing() {
        var machine = self.machine()
        #expect(machine.closeRequested(at: 0) == false)
        #expect(machine.pollReceived(hasPackets: true) == .last)
        var held = self.machine()
        _ = held.pollReceived(hasPackets: false)
        #expect(held.closeRequested(at: 0) == true)
        var unfetched = self.machine()
        _ = unfetched.closeRequested(at: 0)
        #expect(self.due(&unfetched, 5000 * millisecond).expiry == .closeTimeout)
        var leaving = self.machine()
        leaving.closeReceived(at: 0)
        #expect(leaving.nextDeadline == 50 * millisecond)
        #expect(leaving.postReceived(at: 0) == .mismatch)
        #expect(leaving.pollReceived(hasPackets: true, exceedsBody: true) == .farewell)
        #expect(leaving.pollReceived(hasPackets: false) == .mismatch)
    }

    @Test func packets() {
        var machine = self.machine(.webSocket)
        #expect(self.packet(&machine, .message, at: 0) == .message)
        #expect(self.packet(&machine, .close, at: 0) == .close)
        #expect(self.packet(&machine, .ping, at: 0) == .violation)
        #expect(self.packet(&machine, .open, at: 0) == .violation)
    }

    /// Whatever happens in whatever order: a closed machine stays closed and asks for no timer.
    @Test func randomWalk() {
        for seed in 0..<200 as Range<UInt64> {
            var generator = SplitMix64(seed: seed)
            var machine = EngineMachine(transport: .polling, timings: Self.timings, at: 0)
            var now: UInt64 = 0
            for _ in 0..<200 {
                now += UInt64.random(in: 0...60, using: &generator) * millisecond
                let wasClosed = machine.isClosed
                switch Int.random(in: 0..<11, using: &generator) {
                case 0: _ = machine.pollReceived(hasPackets: Bool.random(using: &generator))
                case 1: machine.pollAnswered()
                case 2: _ = machine.postReceived(at: now)
                case 3: machine.postEnded()
                case 4:
                    let isWelcome = machine.webSocketArrived(at: now)
                    #expect(!isWelcome || !wasClosed && machine.transport == .polling, "seed \(seed)")
                case 5:
                    _ = self.candidate(
                        &machine, ["2probe", "5", "6", "x"].randomElement(using: &generator) ?? "", at: now)
                case 6: machine.candidateLost(at: now)
                case 7: _ = machine.packetReceived(.pong, at: now)
                case 8: _ = machine.timeReached(now)
                case 9: machine.connected()
                default: if Int.random(in: 0..<20, using: &generator) == 0 { _ = machine.closeRequested(at: now) }
                }
                #expect(!wasClosed || machine.isClosed, "seed \(seed)")
            }
            machine.ended()
            #expect(machine.nextDeadline == .max)
        }
    }
}

@Suite struct EnginePayloadTests {
    /// A packet and, of a text, its content.
    private struct Read: Equatable {
        var packet: EnginePacket
        var content = ""
    }

    private func read(_ body: [UInt8], size: Int = 1000, maxPacket: Int = 100) throws(EnginePayloadError) -> [Read] {
        var reader = EnginePayloadReader(maxPackets: 3, maxPacket: maxPacket)
        var packets: [Read] = []
        func add(_ packet: EnginePacket) {
            packets.append(Read(packet: packet))
            guard case .text = packet else { return }
            reader.withContent { packets[packets.count - 1].content = String(decoding: $0, as: UTF8.self) }
        }
        for start in stride(from: 0, to: body.count, by: size) {
            let piece = Array(body[start..<min(start + size, body.count)])
            var offset = 0
            let result = piece.withUnsafeBytes { bytes in
                Result { () throws(EnginePayloadError) in
                    while let packet = try reader.next(bytes, at: &offset) { add(packet) }
                }
            }
            try result.get()
            #expect(offset == piece.count && reader.heldBytes <= maxPacket)
        }
        add(try reader.last())
        return packets
    }

    @Test(arguments: [1, 2, 3, 7, 1000])
    func packets(size: Int) throws {
        #expect(
            try self.read(bytes("4hé\u{1e}2\u{1e}bAQIDBA=="), size: size) == [
                Read(packet: .text(.message), content: "hé"), Read(packet: .text(.ping)),
                Read(packet: .binary([1, 2, 3, 4])),
            ])
        #expect(try self.read(bytes("b")) == [Read(packet: .binary([]))])
    }

    /// However long the body is.
    @Test(arguments: [1, 3, 1000])
    func aPacketHasALimit(size: Int) throws {
        #expect(try self.read(bytes("4aaaa\u{1e}4bbbb"), size: size, maxPacket: 5).map(\.content) == ["aaaa", "bbbb"])
        for body in ["4aaaaa\u{1e}4", "4\u{1e}4aaaaa", "4\u{1e}baaaaa\u{1e}4"] {
            #expect(throws: EnginePayloadError.packetTooLarge) {
                try self.read(bytes(body), size: size, maxPacket: 5)
            }
        }
    }

    @Test func errors() {
        #expect(throws: EnginePayloadError.tooManyPackets) { try self.read(bytes("2\u{1e}2\u{1e}2\u{1e}2")) }
        #expect(throws: EnginePayloadError.emptyPacket) { try self.read([]) }
        #expect(throws: EnginePayloadError.emptyPacket) { try self.read(bytes("4a\u{1e}")) }
        #expect(throws: EnginePayloadError.emptyPacket) { try self.read(bytes("\u{1e}4a")) }
        #expect(throws: EnginePayloadError.unknownType) { try self.read(bytes("abc")) }
        #expect(throws: EnginePayloadError.unknownType) { try self.read(bytes("7")) }
        #expect(throws: EnginePayloadError.badBase64) { try self.read(bytes("bAQ=")) }
        #expect(throws: EnginePayloadError.notUTF8) { try self.read([0x34, 0xFF]) }
    }

    @Test func base64RoundTrips() {
        var generator = SplitMix64(seed: 7)
        for count in 0..<100 {
            let data = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            var text: [UInt8] = []
            data.withUnsafeBytes { Base64.encode($0, into: &text) }
            #expect(text.withUnsafeBytes { Base64.decode($0) } == data)
        }
        for bad in ["A", "AA", "AAA", "AA=A", "A===", "====", "AB==", "AAB=", "A A="] {
            #expect(bytes(bad).withUnsafeBytes { Base64.decode($0) } == nil, "\(bad)")
        }
    }

    @Test func errorBodies() {
        #expect(EngineError.unknownSession.body() == bytes(#"{"code":1,"message":"Session ID unknown"}"#))
        #expect(EngineError.forbidden.status == 403)
        #expect(EngineError.unsupportedVersion.status == 400)
    }

    @Test func idsHaveOneText() throws {
        var generator = SplitMix64(seed: 1)
        let id = EngineID(using: &generator)
        #expect(EngineID(id.text) == id)
        #expect(EngineID(id.text.dropLast()) == nil)
        #expect(EngineID(bytes("AAAAAAAAAAAAAAAAAAA=")) == nil)
        #expect(Set((0..<1000).map { _ in EngineID(using: &generator) }).count == 1000)
    }

    @Test func utf8ByteByByte() {
        for scalar in [0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF] as [UInt32] {
            guard let value = Unicode.Scalar(scalar) else { continue }
            var validator = UTF8Validator()
            for byte in String(value).utf8 { #expect([byte].withUnsafeBytes { validator.feed($0) }) }
            #expect(validator.isComplete)
        }
        var generator = SplitMix64(seed: 3)
        for _ in 0..<2000 {
            let data = (0..<4).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let isValid = String(validating: data, as: UTF8.self) != nil
            #expect(data.withUnsafeBytes { UTF8Validator.isValid($0) } == isValid, "\(data)")
        }
    }
}

@Suite struct TimerWheelTests {
    private func due(_ wheel: inout TimerWheel<Int>, at now: UInt64) -> [Int] {
        var due: [(token: Int, tick: UInt64)] = []
        wheel.advance(to: now, &due)
        return due.map(\.token)
    }

    @Test func handsOutInTime() {
        var wheel = TimerWheel<Int>(now: 0, resolution: 10, slotCount: 8)
        for (token, deadline) in [(1, 15), (2, 20), (3, 21), (4, 500), (5, 85)] as [(Int, UInt64)] {
            wheel.insert(token, tick: wheel.tick(for: deadline))
        }
        #expect(self.due(&wheel, at: 19) == [])
        #expect(self.due(&wheel, at: 20) == [1, 2])
        #expect(self.due(&wheel, at: 30) == [3])
        #expect(self.due(&wheel, at: 89) == [])
        #expect(self.due(&wheel, at: 90) == [5])
        #expect(wheel.count == 1)
        #expect(self.due(&wheel, at: 10_000) == [4])
        #expect(wheel.nextTime == nil)
        wheel.insert(6, tick: 0)
        #expect(self.due(&wheel, at: 10_010) == [6], "a deadline of the past comes with the next tick")
    }
}
