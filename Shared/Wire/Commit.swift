/// One numbered commit on its way to the committer.
///
/// The gateway that accepted it keeps it until a ``CommitResult`` arrives; every other stage may forget it at any time.
///
///     room name │ session name │ session epoch u32 │ number u64 │ user name │ connection u64 │ gateway name
///     list of (element name │ gesture u64) │ edit │ trace, if it is traced
public struct Commit: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.commit

    public var room: Identifier
    /// The stream of numbers that it belongs to (see ``SessionKey``).
    public var session: Identifier
    /// The owner of the session that sent it; one with an older epoch than the database has is refused.
    public var sessionEpoch: UInt32
    /// Its number in the session: 1, 2, 3 …, at most 2^53 − 1. A stream that the app numbers has no holes.
    public var number: UInt64
    public var user: Identifier
    /// The app's connection; 0 when there is none (HTTP).
    public var connection: UInt64
    /// The mesh name of the gateway that waits for the result.
    public var gateway: Identifier
    /// The gestures that it ends, at most one for each of its elements, in the edit's order.
    public var gestures: ShortList<EndedGesture>
    public var edit: EncodedEdit
    /// The trace of which its steps are logged; nil for nearly all commits.
    public var trace: TraceID?

    public init(
        room: Identifier, session: Identifier, sessionEpoch: UInt32, number: UInt64, user: Identifier,
        connection: UInt64, gateway: Identifier, gestures: ShortList<EndedGesture>, edit: EncodedEdit,
        trace: TraceID? = nil
    ) {
        self.room = room
        self.session = session
        self.sessionEpoch = sessionEpoch
        self.number = number
        self.user = user
        self.connection = connection
        self.gateway = gateway
        self.gestures = gestures
        self.edit = edit
        self.trace = trace
    }

    /// The size of the fields of fixed length, including the length of the list.
    private static let fixedSize = 4 + 8 + 8 + 4

    public func encode(into writer: inout ByteWriter) {
        let names =
            FieldRun.size(of: self.room) + FieldRun.size(of: self.session) + FieldRun.size(of: self.user)
            + FieldRun.size(of: self.gateway)
        let gestures = self.gestures.reduce(0) { $0 + FieldRun.size(of: $1.element) + 8 }
        writer.run(upTo: names + gestures + Self.fixedSize + self.edit.encodedSize + TraceID.size) { run in
            run.name(self.room)
            run.name(self.session)
            run.integer(self.sessionEpoch)
            run.integer(self.number)
            run.name(self.user)
            run.integer(self.connection)
            run.name(self.gateway)
            run.integer(UInt32(truncatingIfNeeded: self.gestures.count))
            for ended in self.gestures {
                run.name(ended.element)
                run.integer(ended.gesture)
            }
            run.edit(self.edit)
            if let trace = self.trace { run.trace(trace) }
        }
    }

    public init(from reader: inout ByteReader) {
        self.room = reader.name()
        self.session = reader.name()
        self.sessionEpoch = reader.integer()
        self.number = reader.ordinal()
        self.user = reader.name()
        self.connection = reader.integer()
        self.gateway = reader.name()
        self.gestures = reader.shortList { reader in
            let element = reader.name()
            return EndedGesture(element: element, gesture: reader.ordinal())
        }
        self.edit = reader.edit()
        self.trace = reader.trace()
    }
}

extension Commit {
    /// True when the app assigned the number, false when its gateway did.
    public var isNumberedByApp: Bool { SessionKey.isApp(self.session) }

    /// The gestures that it ends: without the elements on which none was under way.
    public var endedGestures: ShortList<EndedGesture> {
        if self.gestures.allSatisfy({ $0.gesture > 0 }) { return self.gestures }
        return ShortList(self.gestures.filter { $0.gesture > 0 })
    }
}

/// An element that a commit moves, and the gesture of its session that the commit ends there: no preview of that gesture,
/// or of an older one, may follow the update.
public struct EndedGesture: Hashable, Sendable {
    public var element: Identifier
    /// The gesture's number in the session; 0 when none was under way.
    public var gesture: UInt64

    public init(element: Identifier, gesture: UInt64) {
        self.element = element
        self.gesture = gesture
    }
}

/// The names of the numbered streams of one session.
///
/// A session's public name is its `sid`. Commits that the app numbers form the stream named `sid`; commits that the
/// gateway numbers, because the app does not, form the stream `sid.epoch`, one for each connection that owned the
/// session, so that its numbers begin at 1 again: they rise, and may leave some out. The names of streams that belong to no app have a colon in second
/// place, and what tells them apart behind the dot: it may be made from an `Idempotency-Key`, which is nobody's business,
/// so that their public name is `h:` or `o:` alone.
public enum SessionKey {
    /// The stream that the app numbers.
    public static func app(sid: Identifier) -> Identifier {
        sid
    }

    /// The stream that the gateway numbers for one owner of the session.
    public static func gateway(sid: Identifier, sessionEpoch: UInt32) -> Identifier {
        Identifier("\(sid.text).\(sessionEpoch)")
    }

    /// The public name behind a stream's name.
    public static func sid(of session: Identifier) -> Identifier {
        guard let dot = session.text.utf8.lastIndex(of: UInt8(ascii: ".")) else { return session }
        return Identifier(String(session.text[..<dot]))
    }

    /// True when the stream's session was created before `floor`, a prefix of session names; the fan-out's
    /// `SessionSeal` documents the layout of names. False for names without a time.
    public static func isOlder(_ session: Identifier, than floor: Identifier) -> Bool {
        let sid = self.sid(of: session)
        return !floor.isEmpty && sid.text.utf8.count == 15 && sid < floor
    }

    /// The stream of one HTTP request.
    public static func http(_ name: String) -> Identifier { Identifier("h:." + name) }

    /// True for the stream of an HTTP request, which has one commit.
    public static func isHTTP(_ session: Identifier) -> Bool {
        session.withBytes { $0.count > 1 && $0[0] == UInt8(ascii: "h") && $0[1] == UInt8(ascii: ":") }
    }

    /// The stream of one operator's command.
    public static func command(_ name: String) -> Identifier { Identifier("o:." + name) }

    /// True for a stream that the app numbers: neither one that the gateway numbers, nor that of a request or command.
    public static func isApp(_ session: Identifier) -> Bool {
        session.withBytes { name in
            !name.contains(UInt8(ascii: ".")) && !(name.count > 1 && name[1] == UInt8(ascii: ":"))
        }
    }
}

/// The outcome of one commit, on its way back to the gateway that waits for it.
///
///     room name │ session name │ number u64 │ connection u64 │ seq u64 │ isRefused u8 │ refusal, if so │ JSON blob
///     elements u32 │ body hash u64
public struct CommitResult: WireRecord, Equatable, Sendable {
    public static let kind = RecordKind.commitResult

    public var room: Identifier
    public var session: Identifier
    public var number: UInt64
    /// The app's connection, as the commit had it.
    public var connection: UInt64
    /// Nil when it was applied (by this commit, or by an earlier one: a duplicate).
    public var refusal: Refusal?
    /// The room's sequence number assigned to it; 0 when refused.
    public var seq: UInt64
    /// The acknowledgement as the app gets it: one JSON object.
    public var json: [UInt8]
    /// The number of elements that this commit changed, those that went with their parents included, or would have changed
    /// if it had not been refused; more where their texts are long, for the log has those; 0 for a duplicate.
    public var elements: UInt32
    /// The ``EncodedEdit/bodyHash`` of the commit. The app may have given up that commit and used its number for another one
    /// meanwhile.
    public var bodyHash: UInt64

    public init(
        room: Identifier, session: Identifier, number: UInt64, connection: UInt64, refusal: Refusal?, seq: UInt64,
        json: [UInt8], elements: UInt32 = 0, bodyHash: UInt64 = 0
    ) {
        self.room = room
        self.session = session
        self.number = number
        self.connection = connection
        self.refusal = refusal
        self.seq = seq
        self.json = json
        self.elements = elements
        self.bodyHash = bodyHash
    }

    public func encode(into writer: inout ByteWriter) {
        writer.name(self.room)
        writer.name(self.session)
        writer.integer(self.number)
        writer.integer(self.connection)
        writer.integer(self.seq)
        writer.bool(self.refusal != nil)
        if let refusal = self.refusal { writer.refusal(refusal) }
        writer.blob(self.json)
        writer.integer(self.elements)
        writer.integer(self.bodyHash)
    }

    public init(from reader: inout ByteReader) {
        self.room = reader.name()
        self.session = reader.name()
        self.number = reader.ordinal()
        self.connection = reader.integer()
        self.seq = reader.ordinal()
        self.refusal = reader.bool() ? reader.refusal() : nil
        self.json = reader.blob()
        self.elements = reader.integer()
        self.bodyHash = reader.integer()
    }
}
