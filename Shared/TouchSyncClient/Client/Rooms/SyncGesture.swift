public import Canvas
public import TouchSyncClientCore

extension SyncRoom {
    /// Fingers touched an element.
    public func begin(_ id: String) -> SyncGesture { self.begin([id]) }

    /// Fingers touched elements.
    /// - Parameter pivot: about which a group turns and scales, pixels of the canvas; its middle if nil.
    public func begin(_ ids: [String], pivot: Point? = nil) -> SyncGesture {
        let gesture = SyncGesture(room: self, name: self.client.inbox.nextName(), elementIds: ids)
        self.post(.gestureBegan(gesture.name, elementIds: ids, pivot: pivot))
        return gesture
    }
}

/// What fingers do to elements until they are lifted. Others see it meanwhile; it is stored at its end. A gesture that
/// nobody keeps any more is cancelled.
public final class SyncGesture: Sendable {
    /// The elements that the fingers touched.
    public let elementIds: [String]
    let name: String
    private let room: SyncRoom
    private let isOver = Locked(false)

    init(room: SyncRoom, name: String, elementIds: [String]) {
        self.room = room
        self.name = name
        self.elementIds = elementIds
    }

    deinit { self.cancel() }

    /// The fingers have done this since they touched; what is absent is as it was.
    /// - Parameters:
    ///   - translation: pixels of the canvas; of annotations fractions of the parent.
    ///   - scale: a factor.
    ///   - rotation: clockwise degrees.
    ///   - tilt: degrees about the x axis and the y axis.
    ///   - anchor: the point about which the element scales and turns, in units of its size.
    public func update(
        translation: Point? = nil, scale: Double? = nil, rotation: Double? = nil, tilt: Point? = nil,
        anchor: Point? = nil
    ) {
        var fields = GestureFields()
        fields.translation = translation
        fields.scale = scale.map { Point(x: $0, y: $0) }
        fields.rotation = rotation
        fields.tilt = tilt
        fields.anchor = anchor
        self.update(fields)
    }

    /// The fingers have done this since they touched; what is absent is as it was. What is not finite is not taken.
    public func update(_ fields: GestureFields) {
        guard fields.gesture.isFinite else { return }
        self.room.post(.gestureMoved(self.name, fields))
    }

    /// The fingers were lifted: what they did is stored.
    @discardableResult
    public func end() -> SyncEdit {
        _ = self.finish()
        return self.room.client.postEdit(elementIds: self.elementIds, in: self.room) {
            .gestureEnded(self.name, id: $0)
        }
    }

    /// The fingers were lifted, and throw what they hold if they move faster than 50 pixels a second: it goes on from
    /// there. Otherwise what they did is stored.
    @discardableResult
    public func end(throwing: GestureThrow) -> SyncEdit {
        _ = self.finish()
        return self.room.client.postEdit(elementIds: self.elementIds, in: self.room) {
            .gestureThrown(self.name, id: $0, throwing)
        }
    }

    /// Everything is as before.
    public func cancel() {
        if self.finish() { self.room.post(.gestureCancelled(self.name)) }
    }

    private func finish() -> Bool {
        self.isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
    }
}
