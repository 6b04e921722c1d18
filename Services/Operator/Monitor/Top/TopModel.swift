package import OperatorTerminal
package import Stages

/// What the screen of `touchsync top` shows: the view that keys choose.
package struct TopModel: Equatable, Sendable {
    package enum View: Equatable, Sendable {
        /// Instances of all stages, or of one.
        case instances(Stage?)
        case rooms
    }

    /// What a key leads to.
    package enum Effect: Equatable, Sendable {
        case none
        /// Draw again.
        case redraw
        /// Draw again, everything.
        case repaint
        case quit
    }

    package private(set) var view = View.instances(nil)
    package private(set) var roomSort = RoomSort.activity
    /// The column by which instances are sorted, from 1; 0: in the order of the stages.
    private(set) var sortColumn = 0
    /// The first line of the table that is shown.
    private(set) var scroll = 0

    package init() {}

    /// The stage whose instances are shown; nil for all.
    var stage: Stage? { if case .instances(let stage) = self.view { stage } else { nil } }

    package mutating func pressed(_ key: Key) -> Effect {
        switch key {
        case .interrupt: return .quit
        case .redraw: return .repaint
        case .up: return self.scrolled(by: -1)
        case .down: return self.scrolled(by: 1)
        case .escape: return self.show(.instances(nil))
        case .left, .right: return .none
        case .character(let character): return self.pressed(character)
        }
    }

    private mutating func pressed(_ character: Character) -> Effect {
        switch character {
        case "q": .quit
        case "a", "0": self.show(.instances(nil))
        case "g", "1": self.show(.instances(.gateway))
        case "c", "2": self.show(.instances(.coalescer))
        case "m", "3": self.show(.instances(.committer))
        case "f", "4": self.show(.instances(.fanout))
        case "r", "5": self.show(.rooms)
        case "s": self.sortChanged()
        default: .none
        }
    }

    private mutating func show(_ view: View) -> Effect {
        guard view != self.view else { return .none }
        self.view = view
        self.scroll = 0
        self.sortColumn = 0
        return .redraw
    }

    private mutating func sortChanged() -> Effect {
        self.scroll = 0
        if self.view == .rooms {
            let all = RoomSort.allCases
            let next = (all.firstIndex(of: self.roomSort) ?? 0) + 1
            self.roomSort = all[next % all.count]
        } else {
            self.sortColumn = (self.sortColumn + 1) % (TopColumn.columns(of: self.stage).count + 1)
        }
        return .redraw
    }

    private mutating func scrolled(by lines: Int) -> Effect {
        guard self.scroll + lines >= 0 else { return .none }
        self.scroll += lines
        return .redraw
    }

    /// The number of lines of the table, and how many of them are visible, have changed.
    package mutating func fit(lines: Int, visible: Int) {
        self.scroll = min(self.scroll, max(0, lines - visible))
    }
}
