import Canvas
package import JSONBytes
import Timing
package import Wire

/// Reads what apps and back ends send: events, and what is to be changed over HTTP. Its storage is used again for each of them.
struct EventReader {
    private let limits: JSONLimits
    private var document = JSONDocument()
    private var editReading: EditReading

    /// The time since 1970.
    var seconds: Int64 {
        get { self.editReading.seconds }
        set { self.editReading.seconds = newValue }
    }

    /// - Parameter seed: of the ids of elements that apps create without one.
    init(limits: GatewayLimits, seed: UInt64) {
        self.limits = limits.json
        self.editReading = EditReading(largestGroup: limits.group, seed: seed)
    }

    /// Reads an event: a JSON array of its name and one object.
    /// - Parameter isBinary: attachments belong to it, which the contract has no use for.
    mutating func event(
        _ json: [UInt8], ackID: UInt64?, from slot: Slot, isBinary: Bool = false, at now: Instant
    ) throws(UnreadableEvent) -> IncomingEvent {
        let fault: JSONError?
        do {
            fault = try self.document.parseWellFormed(json, limits: self.limits)
        } catch {
            let refusal = Refusal(.invalid, "The event is not valid JSON at byte \(error.offset).")
            throw UnreadableEvent(refusal: refusal, isEvent: false)
        }
        let root = self.document.root
        var arguments = root.elements.makeIterator()
        guard root.kind == .array, let name = arguments.next(), name.kind == .string else {
            let refusal = Refusal(.invalid, "An event is an array that begins with its name.")
            throw UnreadableEvent(refusal: refusal, isEvent: false)
        }
        guard let event = AppEvent(name) else {
            throw UnreadableEvent(refusal: Refusal(.unknownEvent, "There is no such event."), event: name.string ?? "")
        }
        guard let payload = arguments.next(), payload.kind == .object else {
            throw UnreadableEvent(refusal: Refusal(.invalid, "The payload must be an object."), event: event.name)
        }
        let refusal =
            isBinary
            ? Refusal(.invalid, "Events carry no binary attachments.")
            : fault.map { Refusal($0, in: payload, limits: self.limits) }
        return IncomingEvent(
            slot: slot, ackID: ackID, event: event, payload: payload, fault: refusal, json: json, isBinary: isBinary,
            now: now)
    }

    // MARK: HTTP

    /// Reads the body of a request that changes a room. Nobody can undo what it does: back ends use HTTP.
    /// - Throws: what is wrong with the body as a whole.
    mutating func edits(of request: CommitRequest, in room: Identifier) throws(Refusal) -> RequestedEdits {
        let fault: JSONError?
        do {
            fault = try self.document.parseWellFormed(request.body, limits: self.limits)
        } catch {
            throw Refusal(.invalid, "The body is not valid JSON at byte \(error.offset).")
        }
        let root = self.document.root
        switch request.form {
        case .creation:
            let edit = try self.creation(root, fault)
            return RequestedEdits(edits: [.success(edit)], answer: .single(status: 201))
        case .commits:
            if let fault { throw Refusal(fault, in: root, limits: self.limits) }
            guard let commits = root["commits"] else {
                return RequestedEdits(edits: [.success(try self.edit(root, in: room))], answer: .single(status: 200))
            }
            guard commits.kind == .array, commits.count > 0 else {
                throw Refusal(
                    .invalid, "commits is an array of 1 to \(CommitRequest.largest) objects.", field: "commits")
            }
            guard commits.count <= CommitRequest.largest else {
                throw Refusal(.tooLarge, "A request has at most \(CommitRequest.largest) commits.", field: "commits")
            }
            let edits = commits.elements.map { commit in
                Result { () throws(Refusal) in try self.edit(commit, in: room) }
            }
            return RequestedEdits(edits: edits, answer: .list)
        }
    }

    /// Reads one commit of a back end: `{"event": …, "data": {…}}`.
    private mutating func edit(_ commit: JSONValue, in room: Identifier) throws(Refusal) -> EncodedEdit {
        guard commit.kind == .object, let name = commit["event"], name.kind == .string else {
            throw Refusal(.invalid, "A commit is an object with the name of an event.", field: "event")
        }
        guard let event = AppEvent(name) else {
            throw Refusal(.unknownEvent, "There is no such event.", field: "event")
        }
        guard case .edit(let kind) = event, CommitRequest.allows(kind) else {
            throw Refusal(.invalid, "Over HTTP there are edits only, and no undo of them.", field: "event")
        }
        guard let data = commit["data"], data.kind == .object else {
            throw Refusal(.invalid, "The data of an event is an object.", field: "data")
        }
        if let named = data["roomId"], !named.isString(room.text) {
            throw Refusal(.invalid, "The data names another room than the path.", field: "roomId")
        }
        var edit = try kind.read(data, reading: &self.editReading).edit
        edit.undo = .none
        return edit
    }

    /// Reads an element to create, or `{"elements": […]}` for several, all or none. A type makes it an element, which may
    /// have a field `elements` of its own.
    private mutating func creation(_ body: JSONValue, _ fault: JSONError?) throws(Refusal) -> EncodedEdit {
        let isGroup = body["type"] == nil && body["elements"] != nil
        if let fault { throw Refusal(fault, in: body, called: isGroup ? "" : "element", limits: self.limits) }
        guard isGroup || body["type"] != nil else {
            throw Refusal(
                .invalid, "The body must be an element, which is an object with a type, or {\"elements\": […]}.",
                field: body.kind == .object ? "element.type" : "element")
        }
        var edit =
            isGroup
            ? EncodedEdit(try CreateElements(body, reading: &self.editReading))
            : EncodedEdit(try CreateElement(element: body, reading: &self.editReading))
        edit.undo = .none
        return edit
    }

    // MARK: Commits

    /// Reads a commit. A fault that is found here for good consumes the app's number too, so PostgreSQL must hear of it.
    mutating func commit(_ kind: EditKind, _ event: IncomingEvent) -> CommitDraft {
        let payload = event.payload
        do throws(Refusal) {
            if let fault = event.fault { throw fault }
            let parent = try Self.traceParent(payload)
            let gesture = try Self.gesture(payload)
            var read = try kind.read(payload, reading: &self.editReading)
            read.edit.undo = try Self.undoPolicy(payload)
            return CommitDraft(gesture: gesture, read: read, parent: parent)
        } catch {
            return CommitDraft(
                read: ReadEdit(refusal: error, bodyHash: Self.textHash(of: payload)), fault: error,
                abandoned: kind.gestureElements(in: payload), parent: try? Self.traceParent(payload))
        }
    }

    /// Reads `n`: a whole number from 1 to 2^53 − 1, or absent.
    static func number(_ payload: JSONValue) throws(Refusal) -> UInt64? {
        try self.ordinal("n", of: payload, called: "A commit's number")
    }

    private static func undoPolicy(_ payload: JSONValue) throws(Refusal) -> UndoPolicy {
        var policy = UndoPolicy.entry
        if let value = payload["undoGroup"] {
            guard let name = value.string, (1...UndoPolicy.longestGroup).contains(name.utf8.count) else {
                throw Refusal(
                    .invalid, "A group is a string of 1 to \(UndoPolicy.longestGroup) bytes.", field: "undoGroup")
            }
            policy = .group(Identifier(name))
        }
        return try payload.flag("undoable") == false ? .none : policy
    }

    // MARK: Traces

    private static let traceParentName = "traceparent"

    private static func traceParent(_ payload: JSONValue) throws(Refusal) -> TraceParent? {
        guard let value = payload[Self.traceParentName] else { return nil }
        guard let parent = value.string.flatMap({ TraceParent($0) }) else {
            throw Refusal(
                .invalid, "A traceparent is a string of the form of W3C Trace Context.", field: Self.traceParentName)
        }
        return parent
    }

    /// Identifies the body of a payload that cannot be read: a hash of its text, without the traceparent, which is no
    /// part of the body.
    private static func textHash(of payload: JSONValue) -> UInt64 {
        let text = payload.rawBytes
        var hash = FNV1a()
        var members = payload.members
        // The member goes with the comma before it, or with the one behind it if it is the first.
        var end: Int?
        while let (key, value) = members.next() {
            if key.isString(Self.traceParentName) {
                let start = end ?? key.rawBytes.startIndex
                let next = end == nil ? members.next()?.key.rawBytes.startIndex : nil
                hash.combine(text[..<start])
                hash.combine(text[(next ?? value.rawBytes.endIndex)...])
                return hash.value
            }
            end = value.rawBytes.endIndex
        }
        hash.combine(text)
        return hash.value
    }

    // MARK: People

    /// Reads what an app shows of its person.
    func awareness(_ payload: JSONValue, _ event: AwarenessEvent) throws(Refusal) -> AwarenessValue {
        switch event {
        case .cursor: .cursor(try PayloadField.cursor(payload))
        case .selection:
            .selection(try PayloadField.selection(payload, limit: self.editReading.largestGroup))
        case .state: .state(try PayloadField.state(payload))
        }
    }

    /// Reads a signal: its name, and any JSON value as text, empty if there is none.
    static func signal(_ payload: JSONValue) throws(Refusal) -> (name: String, data: [UInt8]) {
        guard let name = payload["name"]?.string, (1...Self.signalNameBytes).contains(name.utf8.count) else {
            throw Refusal(.invalid, "A name is a string of 1 to \(Self.signalNameBytes) bytes.", field: "name")
        }
        let data = payload["data"]?.rawBytes ?? []
        guard data.count <= Self.signalBytes else {
            throw Refusal(.tooLarge, "A signal has at most \(Self.signalBytes) bytes of data.", field: "data")
        }
        return (name, Array(data))
    }

    private static let (signalNameBytes, signalBytes) = (64, 4096)

    // MARK: Viewports

    /// Reads the part of the canvas that an app sees, nil: everything; and whether it is shown to others.
    static func viewport(_ payload: JSONValue) throws(Refusal) -> (rect: Rect?, isShared: Bool) {
        let rect: Rect?
        do throws(FieldError) { rect = try Rect(viewport: payload) } catch { throw Refusal(error) }
        return (rect, try payload.flag("share") ?? false)
    }

    // MARK: Previews

    static func move(_ payload: JSONValue, _ event: PreviewEvent) throws(Refusal) -> Move {
        let element = try PayloadField.elementID(payload)
        let gesture = try Self.gesture(payload)
        if event == .values {
            let fields = try PayloadField.transform(payload, isPreview: true)
            return Move(element: element, gesture: gesture, fields: fields)
        }
        let delta = PreviewDelta(try PayloadField.gestureFields(payload))
        return Move(element: element, gesture: gesture, fields: TransformFields(), delta: delta)
    }

    func group(_ payload: JSONValue) throws(Refusal) -> [Move] {
        let ids = try PayloadField.ids(payload, "elements", limit: self.editReading.largestGroup)
        let gesture = try Self.gesture(payload)
        let (pivot, fields) = try PayloadField.groupGesture(payload)
        let delta = PreviewDelta(fields, pivot: pivot)
        return ids.enumerated().map { index, id in
            let role = index == ids.count - 1 ? GroupRole.last : .member
            return Move(element: id, gesture: gesture, fields: TransformFields(), delta: delta, group: role)
        }
    }

    /// Reads `gesture`: a whole number ≥ 1, or absent.
    private static func gesture(_ payload: JSONValue) throws(Refusal) -> UInt64? {
        try self.ordinal("gesture", of: payload, called: "A gesture")
    }

    private static func ordinal(
        _ field: String, of payload: JSONValue, called name: String
    ) throws(Refusal) -> UInt64? {
        guard let value = payload[field] else { return nil }
        guard let number = value.integer, number >= 1, number <= Self.maxNumber else {
            throw Refusal(.invalid, "\(name) is a whole number from 1 on.", field: field)
        }
        return UInt64(number)
    }

    /// The largest whole number that every JSON reader keeps exactly: 2^53 − 1.
    private static let maxNumber: Int64 = (1 << 53) - 1
}

extension JSONValue {
    /// Reads a member that is true or false, or absent.
    func flag(_ name: String) throws(Refusal) -> Bool? {
        guard let value = self[name] else { return nil }
        guard let flag = value.bool else { throw Refusal(.invalid, "\(name) is true or false.", field: name) }
        return flag
    }
}

/// What an app wants to last, as far as it could be read.
struct CommitDraft {
    /// The app's number of the gesture that it ends, if it gives them.
    var gesture: UInt64?
    /// The edit; a faulty one is the refusal that consumes its number.
    let read: ReadEdit
    var fault: Refusal?
    /// Elements whose gestures end although the edit is at fault.
    var abandoned: ShortList<Identifier> = []
    /// The trace of which the app says that it is a part.
    var parent: TraceParent?
    /// The trace of which its steps are logged.
    var trace: TraceID?

    /// The same commit, finally refused for another reason than its fields.
    func refused(_ refusal: Refusal, abandoning elements: ShortList<Identifier>) -> CommitDraft {
        let read = ReadEdit(refusal: refusal, bodyHash: self.read.edit.bodyHash)
        return CommitDraft(read: read, fault: refusal, abandoned: elements, parent: self.parent)
    }
}

extension Refusal {
    /// Why JSON from an app is refused although it is well-formed.
    /// - Parameters:
    ///   - fault: what ``JSONBytes/JSONDocument/parseWellFormed(_:limits:)`` returned.
    ///   - value: the part of the document whose fields apps know.
    ///   - name: what these fields are called by apps; empty if `value` has no name.
    package init(_ fault: JSONError, in value: JSONValue, called name: String = "", limits: JSONLimits) {
        let path = value.path(toByte: fault.offset, from: name) ?? name
        let field = path.isEmpty ? nil : path
        switch fault.reason {
        case .tooDeep:
            self.init(.tooLarge, "Values are nested at most \(limits.depth) deep.", field: field)
        case .tooManyKeys:
            self.init(.tooLarge, "An object has at most \(limits.keysPerObject) fields.", field: field)
        case .keyTooLong:
            self.init(.tooLarge, "The name of a field has at most \(limits.keyLength) bytes.", field: field)
        case .tooManyElements:
            self.init(.tooLarge, "An array has at most \(limits.elementsPerArray) elements.", field: field)
        case .numberTooLong:
            self.init(.invalid, "A number has at most \(limits.numberLength) characters.", field: field)
        case .numberNotFinite:
            self.init(.invalid, "A number lies within the range of a double.", field: field)
        case .duplicateKey:
            self.init(.invalid, "An object has each field once.", field: field)
        case .escapedNull:
            self.init(.invalid, "A text cannot contain U+0000.", field: field)
        default:
            self.init(.invalid, "A text cannot contain half of a surrogate pair.", field: field)
        }
    }
}
