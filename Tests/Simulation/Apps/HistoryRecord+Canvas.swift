import HistoryChecker
import JSONBytes

// Where on the canvas a record shows something.
extension HistoryRecord {
    /// The record is of a cursor there, pixels.
    mutating func show(cursor: (x: Double, y: Double)) {
        self.body = "\(cursor.x) \(cursor.y)"
        self.box = CanvasBox(left: cursor.x, top: cursor.y, right: cursor.x, bottom: cursor.y)
    }

    /// The record is of a preview of an element. Where that shows it is said only if the preview has every field that
    /// matters and the element lies on the canvas.
    /// - Parameter state: the element's stored state.
    mutating func show(_ preview: JSONValue, on state: String?) {
        guard let transform = preview["transform"], let x = preview["positionX"]?.double,
            let y = preview["positionY"]?.double, let rotation = transform["rotation"]?.double,
            let scaleX = transform["scaleX"]?.double, let scaleY = transform["scaleY"]?.double
        else { return }
        self.body = "\(x) \(y) \(rotation) \(scaleX) \(scaleY)"
        self.box = state.flatMap { Self.box(x, y, scaleX, scaleY, of: AppText(Array($0.utf8)).root) }
    }

    /// The record is of a stored element.
    mutating func show(stored state: JSONValue) {
        guard let x = state["positionX"]?.double, let y = state["positionY"]?.double,
            let scaleX = state["scaleX"]?.double, let scaleY = state["scaleY"]?.double
        else { return }
        self.box = Self.box(x, y, scaleX, scaleY, of: state)
    }

    /// A box that contains the element whatever its anchor and its rotations are; nil for an annotation, and for what a
    /// near viewer sees larger.
    private static func box(
        _ x: Double, _ y: Double, _ scaleX: Double, _ scaleY: Double, of state: JSONValue
    ) -> CanvasBox? {
        guard state["parentId"] == nil, state["perspective"] == nil, let width = state["originalWidth"]?.double,
            let height = state["originalHeight"]?.double
        else { return nil }
        let reach = abs(scaleX) * width + abs(scaleY) * height
        return CanvasBox(left: x - reach, top: y - reach, right: x + reach, bottom: y + reach)
    }
}
