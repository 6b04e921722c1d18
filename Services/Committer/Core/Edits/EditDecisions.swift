import Canvas
import Wire

/// The decisions of all kinds of edits, by tag.
struct EditDecisions: Sendable {
    static let all = EditDecisions(allEdits)

    /// By tag; nil where no kind has the tag.
    private var readers: [(@Sendable (EncodedEdit) -> PreparedEdit)?]

    private init<each Kind: DecidableEdit>(_: EditRegistry<repeat each Kind>) {
        self.readers = Array(repeating: nil, count: 256)
        for kind in repeat (each Kind).self { self.add(kind) }
    }

    private mutating func add<Kind: DecidableEdit>(_: Kind.Type) {
        precondition(
            Kind.traits.tag > 0 && self.readers[Int(Kind.traits.tag)] == nil, "two kinds of edits have one tag")
        self.readers[Int(Kind.traits.tag)] = { encoded in
            do throws(Refusal) {
                let edit = try encoded.decode(Kind.self)
                let motion = try encoded.motionRequest()
                let hash = encoded.identity(of: BodyHash.of(edit))
                return PreparedEdit(.edit(edit), hash: hash, undo: encoded.undo, motion: motion)
            } catch {
                return PreparedEdit(.refused(error), hash: BodyHash.of(unreadable: encoded))
            }
        }
    }

    /// Decodes an edit. One that cannot be decoded becomes a refusal, which uses up the commit's number.
    func prepare(_ encoded: EncodedEdit) -> PreparedEdit {
        if let (refusal, bodyHash) = encoded.refusal {
            // A retriable code would be remembered as if it were final; retriable refusals are the gateway's alone.
            let final = refusal.code.isRetriable ? Refusal(.invalid, refusal.message, field: refusal.field) : refusal
            return PreparedEdit(.refused(final), hash: bodyHash)
        }
        if let read = self.readers[Int(encoded.tag)] { return read(encoded) }
        return PreparedEdit(
            .refused(Refusal(.invalid, "This committer does not know the kind of edit.")),
            hash: BodyHash.of(unreadable: encoded))
    }
}

struct PreparedEdit: Sendable {
    enum Request: Sendable {
        case edit(any Decidable)
        case refused(Refusal)
    }

    var request: Request
    /// The identity of its body: a repeated commit has the same.
    let hash: UInt64
    /// How it enters its user's undo stack.
    let undo: UndoPolicy
    /// How the eye gets to where it puts elements; nil: at once.
    let motion: MotionRequest?
    /// The number of elements that it names: parents of new ones too, but no annotations of deleted ones, and nothing of
    /// what an undo changes.
    let elementCount: Int

    init(_ request: Request, hash: UInt64, undo: UndoPolicy = .none, motion: MotionRequest? = nil) {
        self.request = request
        self.hash = hash
        self.undo = undo
        self.motion = motion
        var count = 0
        if case .edit(let edit) = request { edit.forEachNeed { _, _ in count += 1 } }
        self.elementCount = count
    }

    /// Whether it must be the first commit of its batch.
    var beginsBatch: Bool {
        if case .edit(let edit) = self.request { edit.beginsBatch } else { false }
    }

    /// Turns it into a refusal. False when it already has that refusal.
    mutating func refuse(with refusal: Refusal) -> Bool {
        if case .refused(refusal) = self.request { return false }
        self.request = .refused(refusal)
        return true
    }
}
