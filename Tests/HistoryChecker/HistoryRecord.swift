/// One thing that was observed, or one row of the final dump.
///
/// All kinds share these fields; each uses the ones that its line in the README names and leaves the rest as they are.
package struct HistoryRecord: Equatable, Sendable {
    /// What was observed.
    package enum Kind: String, CaseIterable, Sendable {
        case invoke, ok, refused, lost
        case snapshot, resumed, resync, deliver, legacy, left
        case request, answer, closed
        case previewSent = "preview-sent"
        case preview
        case look, view, pointed, cursor, selected, people
        case started, edit, result, shown, posed
        case hush, stir
        case heal, quiet
        case log, room, shard, element, count
    }

    /// What was observed.
    package var kind: Kind
    /// When, in milliseconds of the observer's clock.
    package var time: Double = 0
    /// The server's clock, ms, as an app has it or was told; nil: the record does not say.
    package var at: Double?
    /// The app.
    package var client = ""
    /// The room.
    package var room = ""
    /// The session that a commit, or the gesture of a preview, is numbered in.
    package var session = ""
    /// The commit's number in its session, 0 when it has none; or a request's number among those of its app.
    package var number: UInt64 = 0
    /// The event's name.
    package var event = ""
    /// The element concerned.
    package var element = ""
    /// The elements that a commit of several or an edit is to change, or that are under a user's fingers; the apps that are
    /// in a room; or the fields that a preview has, empty where the writer does not know them.
    package var targets: [String] = []
    /// The name of a user's edit; and those of the edits that a commit carries.
    package var edit = ""
    package var edits: [String] = []
    /// The gesture that a preview belongs to, or that a commit ends; 0: none.
    package var gesture: UInt64 = 0
    /// What must result of a request, by element id; empty when the writer cannot tell.
    package var request: [String: String] = [:]
    /// The room's number of a change, or the place of a view.
    package var seq: UInt64 = 0
    /// The element's state as canonical text; empty for a deleted one. Or what a preview, a cursor or a selection shows.
    package var body = ""
    /// States of several elements by id: of a snapshot, or of a change to more than one element.
    package var elements: [String: String] = [:]
    /// The geometry of elements by id, for requests and acknowledgements that determine no more than that; or where a client
    /// has elements without what moves them.
    package var geometry: [String: String] = [:]
    /// Which of its update's elements an event is for, and of how many; 0: the event does not say.
    package var part: UInt64 = 0, parts: UInt64 = 0
    /// The part of the canvas that an app sees; or one that certainly contains what a preview, a cursor or an element shows.
    /// Nil: everything, or unknown.
    package var box: CanvasBox?
    /// The cursors and the selections that the members of a room show, as texts by app.
    package var cursors: [String: String] = [:], selections: [String: String] = [:]
    /// The parents of the annotations among a row's elements, by the annotations' ids.
    package var parents: [String: String] = [:]
    /// The parent of an annotation.
    package var parent = ""
    /// A refusal's code; of an answer only where the request was a commit without a number.
    package var code = ""
    /// A refusal that uses the number up; a leave that the app wanted; that all elements are shown; or that a reader of a
    /// room's stream has it, whom others do not see.
    package var isFinal = false
    /// The room's epoch.
    package var epoch = ""
    /// First and last number that a resync told to be missing; `to` is also the last one of the updates that answer a join.
    package var from: UInt64 = 0
    package var to: UInt64 = 0
    /// Who sent a preview or a cursor.
    package var sender = ""
    /// The last number that is no longer in the log.
    package var floor: UInt64 = 0
    /// The shard, and its number of a change.
    package var shard = 0
    package var gseq: UInt64 = 0
    /// The user of a row, of an answer, or of the client that requests a commit; empty where it is the client's name.
    package var user = ""
    /// How a commit enters its user's undo stack: `none`, a group's name, or empty for an entry of its own. Of an undo or a
    /// redo the number of the entry that it leaves out, or empty.
    package var undo = ""
    /// `undo` or `redo`: what a row is, or empty for an edit.
    package var cause = ""
    /// The number of the entry that an undo or a redo was made from.
    package var undone: UInt64 = 0
    /// True when an undo or a redo was answered that nothing was left.
    package var isUnchanged = false
    /// A count's name and value; of an undo the number of entries that it skipped; of a silence the messages that passed.
    package var name = ""
    package var value: Int64 = 0

    /// A record of a kind; the caller sets what the kind uses.
    package init(_ kind: Kind, time: Double = 0) {
        self.kind = kind
        self.time = time
    }

    /// The states that the record gives, of one element or of several.
    package var states: [String: String] {
        var states = self.elements
        if !self.element.isEmpty { states[self.element] = self.body }
        return states
    }

    /// The elements that a commit is to change, if the record says so.
    package var requested: Set<String> {
        self.element.isEmpty ? Set(self.targets) : Set(self.targets).union([self.element])
    }

    /// True when the record's change leaves none of its elements.
    package var isDeletion: Bool { self.states.values.allSatisfy(\.isEmpty) }

    /// True when the record's change creates its elements.
    package var isCreation: Bool { self.event.hasSuffix("created") }
}
