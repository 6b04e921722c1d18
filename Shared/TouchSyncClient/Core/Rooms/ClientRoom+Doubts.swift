import JSONBytes

/// Edits that were sent in a session that ended, without an answer: only the room's history knows what became of them.
extension ClientRoom {
    /// Reads the room's history from where the oldest edit in doubt was sent, or goes on where a page could not be had.
    mutating func searchHistory(_ outbox: inout ClientOutbox) {
        self.search.paused()
        guard self.phase == .joined, let oldest = self.queue.doubtful.map(\.sentAfter).min() else { return }
        self.readHistory(after: self.search.readingFrom ?? oldest, &outbox)
    }

    private mutating func readHistory(after seq: Int64, _ outbox: inout ClientOutbox) {
        self.search.began(from: seq)
        self.tell(.readHistory(after: seq), &outbox)
    }

    /// A page behind a number arrived; nil when it cannot be had.
    mutating func historyRead(after seq: Int64, _ page: HistoryExcerpt?, _ outbox: inout ClientOutbox) {
        guard self.search.readingFrom == seq, self.phase == .joined else { return }
        guard let page else { return self.search.failed(retryAt: outbox.now.plus(self.pause.next())) }
        for entry in page.entries { self.found(entry, &outbox) }
        for edit in self.queue.doubtful where page.oldest > edit.sentAfter.plus(1) {
            self.takeBack(edit, .forgotten, &outbox)
        }
        self.pause.reset()
        if let next = page.next, next > seq { return self.readHistory(after: next, &outbox) }
        self.searchEnded(&outbox)
    }

    /// The history has an edit of some session.
    private mutating func found(_ entry: HistoryExcerpt.Applied, _ outbox: inout ClientOutbox) {
        for edit in self.queue.doubtful where edit.doubt?.sid == entry.sid {
            if edit.number == entry.number {
                self.acknowledged(edit, EditAnswer(foundAt: entry.seq, elements: entry.elements), &outbox)
            } else if edit.number ?? 0 < entry.number {
                // A session's numbers are decided in their order.
                self.queue.decided(edit.key)
            }
        }
    }

    /// What the history does not have was not applied: it is sent, unless something behind it was.
    private mutating func searchEnded(_ outbox: inout ClientOutbox) {
        self.search.ended()
        let doubtful = self.queue.doubtful
        for edit in doubtful where edit.doubt?.isDecided ?? false { self.takeBack(edit, .withoutEffect, &outbox) }
        self.queue.clearDoubts()
        for edit in doubtful { self.contents.touch(edit.elementIds) }
        self.saving.changed()
        self.pump(&outbox)
    }
}
